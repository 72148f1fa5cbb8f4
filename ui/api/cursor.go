package api

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
)

// sealer makes cursors unreadable. A cursor of a store names the run behind which a page goes on,
// and that may be one which the actor may not see.
type sealer struct{ cipher.AEAD }

// newSealer takes any key, and chance if there is none.
func newSealer(key []byte) sealer {
	if len(key) == 0 {
		key = make([]byte, sha256.Size)
		_, _ = rand.Read(key) // it never fails
	}
	sum := sha256.Sum256(key)
	block, err := aes.NewCipher(sum[:])
	if err != nil {
		panic(err) // the length is right
	}
	gcm, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	return sealer{gcm}
}

func (s sealer) seal(cursor string) string {
	if cursor == "" {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(s.Seal(nil, nil, []byte(cursor), nil))
}

func (s sealer) open(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	var cursor []byte
	if err == nil {
		cursor, err = s.Open(nil, nil, sealed, nil)
	}
	if err != nil {
		return "", howTo(invalidRequest, "begin with the first page; several processes behind one address need one Options.CursorKey",
			"the cursor is none of this process")
	}
	return string(cursor), nil
}
