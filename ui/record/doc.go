// Package record has the JSON of Reprise's tools: what the command reprise prints with -o json, and
// what the HTTP API of package ui/api answers. Both make their answers here, so both say the same.
//
// A record is a type of its own and none of the library, so that a renamed field of Go code changes
// no output. A field keeps its name and its meaning within a major version; further ones may come.
// Fields without a value are left out where the tag says so. The tag doc is the meaning of a field:
// docs/reprise/json.md and docs/openapi.json are written from it.
//
// [Maker] makes those records that have payloads. The other ones need only what they are made from.
package record
