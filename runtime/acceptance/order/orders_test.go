package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write orders.jsonl anew")

// TestOrdersFile verifies that orders.jsonl is what the generator below writes; -update writes it.
func TestOrdersFile(t *testing.T) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, t := range generate() {
		if err := enc.Encode(t); err != nil {
			panic(err)
		}
	}
	if *update {
		if err := os.WriteFile("orders.jsonl", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(ordersFile), b.String()); diff != "" {
		t.Errorf("orders.jsonl is not what its generator writes (-file +generated):\n%s", diff)
	}
}

// TestOrdersVaried verifies that a short run over the first orders meets every outcome, too.
func TestOrdersVaried(t *testing.T) {
	for _, count := range []int{60, 500} {
		tickets, err := readTickets(count)
		if err != nil {
			t.Fatal(err)
		}
		if len(tickets) != count {
			t.Fatalf("%d orders, want %d", len(tickets), count)
		}
		met, ids := map[string]int{}, map[string]bool{}
		for _, t := range tickets {
			met[t.Desk]++
			for _, w := range t.Want {
				met[w]++
			}
			ids[t.ID] = true
		}
		for _, want := range []string{
			outcomeShipped, outcomeUnknown, outcomeSoldOut, outcomeDeclined, outcomeStolen, outcomeRefused, outcomeUnanswered,
			outcomeAddress, outcomeBounced, outcomeCancelled, deskApproves, deskRefuses, deskSilent, deskCancels, deskRegrets,
		} {
			if met[want] == 0 {
				t.Errorf("no order among the first %d meets %q", count, want)
			}
		}
		if len(ids) != count {
			t.Errorf("%d different ids, want %d", len(ids), count)
		}
	}
}

var customers = []string{
	"Zoë Ångström", "李小龙", "Ольга Петрова", "محمد الفاسي", "Þórunn Jónsdóttir", "Ngô Thị Ánh", "Søren Kjær", "山田 花子",
	"Γιώργος Παππάς", "דנה לוי", "O'Brien & \"Sons\"", "Robert'); DROP TABLE shop.items;--", "🤖 Unit 7", "José-María de la Cruz y Núñez",
	"प्रिया शर्मा", "김민준", "Łukasz Żółć", "x", "Anna\u0301 (combining)", "\u202eright to left\u202c",
}

var addresses = []string{
	"12 High Street, Leeds", "Straße des 17. Juni 135, Berlin", "東京都千代田区千代田1-1", "ул. Тверская 7, Москва", "Rue de l'Église 3, Liège",
	"شارع التحرير ١٢، القاهرة", "Calle Ñuñoa 44, Santiago", "Óðinsgata 1, Reykjavík",
}

// maker makes tickets from a fixed seed.
type maker struct{ rand *rand.Rand }

// kind is how many tickets of a sort the file holds, and what is special about them.
type kind struct {
	count int
	make  func(m *maker, t *ticket)
}

func card(prefix string) func(*maker, *ticket) {
	return func(m *maker, t *ticket) { t.Card = fmt.Sprintf("%s-%04d", prefix, m.rand.IntN(10_000)) }
}

func want(outcomes ...string) func(*maker, *ticket) {
	return func(_ *maker, t *ticket) { t.Want = outcomes }
}

func add(sku string, quantity int64) func(*maker, *ticket) {
	return func(_ *maker, t *ticket) { t.Lines = append(t.Lines, Line{sku, quantity}) }
}

// grand makes an order that needs an approval.
func grand(desk string, replyMS int64) func(*maker, *ticket) {
	return func(m *maker, t *ticket) {
		t.Lines = append(t.Lines, Line{[]string{"ROASTER", "MACHINE", "VENDING"}[m.rand.IntN(3)], 1 + m.rand.Int64N(4)})
		t.Desk, t.ReplyMS = desk, replyMS
	}
}

func only(lines ...Line) func(*maker, *ticket) {
	return func(_ *maker, t *ticket) { t.Lines = lines }
}

func all(steps ...func(*maker, *ticket)) func(*maker, *ticket) {
	return func(m *maker, t *ticket) {
		for _, s := range steps {
			s(m, t)
		}
	}
}

// patient is a deadline that no outage in this program reaches, hasty one that comes soon.
const (
	patient = 120_000
	hasty   = 2_500
)

var kinds = []kind{
	{45, card("flaky1")},
	{30, card("flaky3")},
	{28, all(card("empty"), want(outcomeDeclined))},
	{10, all(card("stolen"), want(outcomeStolen))},
	{14, all(add("NO-SUCH-ITEM", 1), want(outcomeUnknown))},
	{2, all(add("", 1), want(outcomeUnknown))},
	{12, all(add("GONE", 1), want(outcomeSoldOut))},
	{3, all(add("SUGAR", 9_223_372_036_854_775_807), want(outcomeSoldOut))},
	{12, all(add("LIMITED", 1), want(outcomeShipped, outcomeSoldOut))},
	{36, grand(deskApproves, patient)},
	{4, all(only(Line{"PLANTATION", 3}, Line{"SUGAR", 1}), func(_ *maker, t *ticket) { t.Desk, t.ReplyMS = deskApproves, patient })},
	{5, all(card("flaky3"), grand(deskApproves, patient))},
	{10, all(grand(deskRefuses, patient), want(outcomeRefused))},
	{14, all(grand(deskSilent, hasty), want(outcomeUnanswered))},
	{8, all(grand(deskCancels, patient), want(outcomeCancelled))},
	{16, all(func(_ *maker, t *ticket) { t.Desk = deskRegrets }, want(outcomeShipped, outcomeCancelled))},
	{14, all(func(_ *maker, t *ticket) { t.Address = "Nowhere 0" }, want(outcomeAddress))},
	{10, all(func(_ *maker, t *ticket) { t.Email = "bounce@example.org" }, want(outcomeBounced))},
	{14, only(Line{"CARD", 1}, Line{"SAMPLE", 2})},
	{4, only(Line{"SUGAR", 1_000})},
	{4, only(Line{"SUGAR", 1}, Line{"CUP-BLUE", 1}, Line{"SUGAR", 2})},
}

// generate returns the 500 tickets of the file.
func generate() []ticket {
	m := &maker{rand.New(rand.NewPCG(7, 9))}
	var tickets []ticket
	for _, k := range kinds {
		for range k.count {
			t := m.plain()
			k.make(m, &t)
			tickets = append(tickets, t)
		}
	}
	for len(tickets) < 500 {
		tickets = append(tickets, m.plain())
	}
	m.spread(tickets)
	for i := range tickets {
		tickets[i].ID = fmt.Sprintf("A-%04d", i+1)
	}
	return tickets
}

// spread shuffles the tickets but keeps one of each kind among the first.
func (m *maker) spread(tickets []ticket) {
	at := 0
	for i, k := range kinds {
		tickets[i], tickets[at] = tickets[at], tickets[i]
		at += k.count
	}
	m.rand.Shuffle(len(tickets)-len(kinds), func(i, j int) {
		i, j = i+len(kinds), j+len(kinds)
		tickets[i], tickets[j] = tickets[j], tickets[i]
	})
	m.rand.Shuffle(60, func(i, j int) { tickets[i], tickets[j] = tickets[j], tickets[i] })
}

// plain makes an order that nothing is special about.
func (m *maker) plain() ticket {
	t := ticket{Want: []string{outcomeShipped}}
	t.Customer = customers[m.rand.IntN(len(customers))]
	t.Email = fmt.Sprintf("c%d@example.org", m.rand.IntN(400))
	t.Card = fmt.Sprintf("card-%04d", m.rand.IntN(300))
	t.Address = addresses[m.rand.IntN(len(addresses))]
	t.ReplyMS = patient
	for range 1 + m.rand.IntN(5) {
		t.Lines = append(t.Lines, Line{catalogue[m.rand.IntN(14)].SKU, 1 + m.rand.Int64N(4)})
	}
	return t
}
