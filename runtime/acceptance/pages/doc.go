// Package pages has the programs that the pages in docs quote, as tests, so that they compile and
// do what the pages say. That the pages quote them is tested beside package examples/readmetest.
package pages
