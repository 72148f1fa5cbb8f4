package journal

import (
	"fmt"
	"strconv"
	"strings"
)

// Handle names the claim for people and for programs: the node and its number of the claim, as in
// 3:7812. All claims of a step have one, whatever limits they are of. [ParseClaimHandle] reads it.
func (c *LimitClaim) Handle() string { return fmt.Sprintf("%d:%d", c.Node, c.ID) }

// ParseClaimHandle reads what [LimitClaim.Handle] has written. Errors: ErrInvalid.
func ParseClaimHandle(text string) (NodeID, int64, error) {
	first, second, _ := strings.Cut(text, ":")
	node, err := strconv.ParseInt(first, 10, 32)
	if err == nil && node >= 0 {
		var id int64
		if id, err = strconv.ParseInt(second, 10, 64); err == nil {
			return NodeID(node), id, nil
		}
	}
	return 0, 0, fmt.Errorf("claim %q: %w: it is a node and a number, as in 3:7812", text, ErrInvalid)
}
