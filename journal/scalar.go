package journal

import "strconv"

// Many values that steps return are a number, a short text, a truth or nothing. For these
// encoding/json spends most of its time on what it needs for others: a state, a look at the type.
// So JSON writes and reads the plain forms of the plain types itself. Whatever is not plain goes to
// encoding/json, which decides what is valid; for what is plain the two do the same, byte by byte.

// encodeScalar returns the JSON of a plain value. ok is false for any other.
func encodeScalar(v any) (data []byte, ok bool) {
	switch v := v.(type) {
	case int:
		return strconv.AppendInt(nil, int64(v), 10), true
	case int64:
		return strconv.AppendInt(nil, v, 10), true
	case bool:
		return strconv.AppendBool(nil, v), true
	case struct{}:
		return []byte("{}"), true
	case string:
		if !plainText(v) {
			return nil, false
		}
		data = make([]byte, 0, len(v)+2)
		data = append(data, '"')
		data = append(data, v...)
		return append(data, '"'), true
	}
	return nil, false
}

// decodeScalar reads the plain JSON of a plain value. It returns false, and leaves v as it is, for
// anything else.
func decodeScalar(data []byte, v any) bool {
	switch v := v.(type) {
	case *int:
		n, ok := plainNumber(data)
		return ok && int64(int(n)) == n && set(v, int(n))
	case *int64:
		n, ok := plainNumber(data)
		return ok && set(v, n)
	case *bool:
		yes := string(data) == "true"
		return (yes || string(data) == "false") && set(v, yes)
	case *struct{}:
		return string(data) == "{}" && v != nil
	case *string:
		n := len(data) - 1
		return n > 0 && data[0] == '"' && data[n] == '"' && plainText(data[1:n]) && set(v, string(data[1:n]))
	}
	return false
}

// set returns false for a nil pointer, which encoding/json has an error for.
func set[T any](to *T, v T) bool {
	if to == nil {
		return false
	}
	*to = v
	return true
}

// plainText tells whether a text stands in JSON as it is, between quotes: it is printable ASCII
// without quotes and backslashes.
func plainText[T string | []byte](s T) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// plainNumber reads a decimal number of at most 18 digits, so that it fits, with nothing around it.
func plainNumber(data []byte) (n int64, ok bool) {
	digits := data
	if len(data) > 1 && data[0] == '-' {
		digits = data[1:]
	}
	if len(digits) == 0 || len(digits) > 18 || digits[0] == '0' && len(digits) > 1 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	if len(digits) < len(data) {
		n = -n
	}
	return n, true
}
