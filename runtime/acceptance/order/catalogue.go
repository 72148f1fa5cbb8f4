package main

// item is something the shop sells.
type item struct {
	SKU   string
	Name  string
	Cents int64 // price of one
	Stock int64 // before the first order
}

// catalogue is what the shop starts with. Some items are free, one costs more than a float can
// count in cents, one is sold out from the beginning and one has fewer pieces than admirers.
var catalogue = []item{
	{"TEA-ASSAM", "Assam tea, 100 g", 1290, 100_000},
	{"TEA-SENCHA", "煎茶 (sencha), 50 g", 1850, 100_000},
	{"TEA-MINT", "Thé à la menthe", 690, 100_000},
	{"COFFEE-SIDAMO", "ሲዳሞ coffee, 250 g", 1390, 100_000},
	{"COFFEE-MOKKA", "قهوة Mokka, 250 g", 1475, 100_000},
	{"CUP-WHITE", "Cup, white", 899, 100_000},
	{"CUP-BLUE", "Tasse, königsblau", 999, 100_000},
	{"POT-IRON", "鉄瓶 iron pot", 12_900, 100_000},
	{"POT-GLASS", "Glaskanne 1,2 l", 3450, 100_000},
	{"KETTLE", "Kettle, steel", 4999, 100_000},
	{"FILTER-100", "Filters, 100 pieces", 345, 100_000},
	{"SUGAR", "Sugar cubes", 1, 100_000},
	{"SPOON", "Ложка, серебро", 7777, 100_000},
	{"SCALE", "Scale, 0.1 g", 2995, 100_000},
	{"GRINDER", "Grinder, cast iron", 18_900, 100_000},
	{"ROASTER", "Roaster, 15 kg", 749_000, 100_000},
	{"MACHINE", "Macchina per caffè, 3 gruppi", 1_249_900, 100_000},
	{"VENDING", "Vending machine 🤖☕", 689_000, 100_000},
	{"CARD", "Greeting card 💐", 0, 100_000},
	{"SAMPLE", "Free sample", 0, 100_000},
	{"PLANTATION", "A whole plantation", 9_007_199_254_740_993, 40},
	{"LIMITED", "Limited edition № 7", 15_000, 5},
	{"GONE", "Last year's harvest", 2100, 0},
}
