package postgres

import (
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-run/reprise/journal/driver"
)

// A listing ends its page where the bytes of its runs are too many (driver.ListBytesMax). So a
// listing statement stands inside another, which counts them, in the order of the page, and leaves
// the values out of the rows that have no room. The inner statement is planned as if it stood
// alone, since it has a limit. Nothing of a value that is left out is fetched: sizes of values that
// are stored outside of their rows are in the rows.
//
// The columns are named by their places in listColumns, since names are in it twice.
var listBegin, listEnd string

// listWidth is the number of listColumns, and listLarge the places, from 1, of those without a
// small limit: attempts of the task; payload of the terminal event, and what its turn has issued;
// input, published values and headers.
const listWidth = 55

var listLarge = []int{16, 23, 24, 53, 54, 55}

func init() {
	var names, columns, sizes []string
	for i := 1; i <= listWidth; i++ {
		name := "c" + strconv.Itoa(i)
		names = append(names, name)
		if slices.Contains(listLarge, i) {
			sizes = append(sizes, "coalesce(octet_length("+name+"), 0)")
			name = "CASE WHEN fits THEN " + name + " END"
		}
		columns = append(columns, name)
	}
	listBegin = "SELECT " + strings.Join(columns, ", ") + ", fits\nFROM (SELECT x.*, row_number() OVER w AS place,\n" +
		"    row_number() OVER w = 1 OR sum(" + strings.Join(sizes, " + ") + ") OVER w <= " + strconv.Itoa(driver.ListBytesMax) + " AS fits\nFROM ("
	listEnd = ") AS x(" + strings.Join(names, ", ") + ")\nWINDOW w AS (ROWS UNBOUNDED PRECEDING)) y ORDER BY place"
}

// withRoom returns a listing statement that leaves out what has no room.
func withRoom(sql string) string { return listBegin + sql + listEnd }
