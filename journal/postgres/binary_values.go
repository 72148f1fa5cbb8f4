package postgres

import "encoding/binary"

// binaryValues are the parameters of a statement for one, in the binary form of the protocol. The
// numbers stand in fixed, which must not grow: what is in list points there.
type binaryValues struct {
	fixed [64]byte
	used  int
	list  [][]byte
}

func (v *binaryValues) number(n int, put func(b []byte)) {
	b := v.fixed[v.used : v.used+n]
	v.used += n
	put(b)
	v.list = append(v.list, b)
}

func (v *binaryValues) int16(n int16) {
	v.number(2, func(b []byte) { binary.BigEndian.PutUint16(b, uint16(n)) })
}

func (v *binaryValues) int32(n int32) {
	v.number(4, func(b []byte) { binary.BigEndian.PutUint32(b, uint32(n)) })
}

func (v *binaryValues) int64(n int64) {
	v.number(8, func(b []byte) { binary.BigEndian.PutUint64(b, uint64(n)) })
}

func (v *binaryValues) nullInt16(n int16) {
	if n == 0 {
		v.list = append(v.list, nil)
		return
	}
	v.int16(n)
}

func (v *binaryValues) nullInt32(n int32) {
	if n == 0 {
		v.list = append(v.list, nil)
		return
	}
	v.int32(n)
}

func (v *binaryValues) nullInt64(n int64) {
	if n == 0 {
		v.list = append(v.list, nil)
		return
	}
	v.int64(n)
}

// nullBool stores false as null.
func (v *binaryValues) nullBool(b bool) {
	if !b {
		v.list = append(v.list, nil)
		return
	}
	v.number(1, func(b []byte) { b[0] = 1 })
}

// bytes adds a value as it is; nil is null.
func (v *binaryValues) bytes(b []byte) { v.list = append(v.list, b) }

func (v *binaryValues) nullText(s string) {
	if s == "" {
		v.list = append(v.list, nil)
		return
	}
	v.list = append(v.list, []byte(s))
}
