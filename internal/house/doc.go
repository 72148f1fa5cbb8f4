// Package house keeps the rules of this repository that a compiler does not: which package may
// import which (floors), where a library is at home, and how long files and functions may be. Its
// tests read the source of the whole module and name the broken rule; nothing imports it.
package house
