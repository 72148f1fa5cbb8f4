package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of CPU times in /proc: USER_HZ is 100 on every Linux.
const clockTick = 10 * time.Millisecond

// procStat is what /proc/PID/stat tells of a process.
type procStat struct {
	name   string
	parent int
	own    time.Duration // CPU, user and system
	reaped time.Duration // CPU of children that have ended
}

func readStat(pid int) (s procStat, ok bool) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return s, false
	}
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')') // the name may hold anything
	if open < 0 || end < open {
		return s, false
	}
	s.name = string(text[open+1 : end])
	fields := strings.Fields(string(text[end+1:]))
	if len(fields) < 15 {
		return s, false
	}
	number := func(i int) int {
		n, _ := strconv.Atoi(fields[i])
		return n
	}
	s.parent = number(1)
	s.own = time.Duration(number(11)+number(12)) * clockTick
	s.reaped = time.Duration(number(13)+number(14)) * clockTick
	return s, true
}

// postmasterOf returns the pid of a local server's first process, or 0.
func postmasterOf(backend int) int {
	s, ok := readStat(backend)
	if !ok || !strings.HasPrefix(s.name, "postgres") {
		return 0
	}
	if p, ok := readStat(s.parent); !ok || !strings.HasPrefix(p.name, "postgres") {
		return 0
	}
	return s.parent
}

// serverCPU is the CPU time of a server's processes, past and present.
func serverCPU(postmaster int) (time.Duration, bool) {
	if postmaster == 0 {
		return 0, false
	}
	top, ok := readStat(postmaster)
	if !ok {
		return 0, false
	}
	sum := top.own + top.reaped
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, false
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if s, ok := readStat(pid); ok && s.parent == postmaster {
			sum += s.own
		}
	}
	return sum, true
}

const gogcEnv = "GOGC" // Go's own variable

// tuneCollector sets the garbage collector as a program that serves would, unless the environment
// did.
func tuneCollector(percent int) {
	if os.Getenv(gogcEnv) == "" {
		debug.SetGCPercent(percent)
	}
}

// collectorTarget is what the garbage collector of this process is set to, in the words of GOGC.
func collectorTarget() string {
	target := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(target)
	if v := target[0].Value.Uint64(); v <= math.MaxInt32 {
		return strconv.FormatUint(v, 10)
	}
	return "off"
}

// residentBytes is the memory that this process occupies; 0 where that is unknown.
func residentBytes() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// fileField finds the value of "name : value" in a file of /proc.
func fileField(path, name string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == name {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func loadAverage() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	v, _ := strconv.ParseFloat(first, 64)
	return v
}
