// Checks notes, checkpoints and proofs with golang.org/x/mod/sumdb, which is none of our code. Reads one JSON document
// from standard input, prints one line per failure, and exits with 1 when there is any.
package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type input struct {
	Key        string
	Checkpoint string
	Origin     string
	Size       int64
	Root       string
	Records    []struct {
		Index int64
		Leaf  string
		Proof []string
	}
	Trees []struct {
		Size  int64
		Root  string
		Proof []string
	}
}

func hash(text string) (out tlog.Hash) {
	bytes, err := hex.DecodeString(text)
	if err != nil || len(bytes) != len(out) {
		panic("not a hash: " + text)
	}
	copy(out[:], bytes)
	return out
}

func hashes(texts []string) []tlog.Hash {
	out := make([]tlog.Hash, len(texts))
	for i, text := range texts {
		out[i] = hash(text)
	}
	return out
}

func main() {
	var in input
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		panic(err)
	}
	failed := false
	fail := func(format string, args ...interface{}) {
		failed = true
		fmt.Printf(format+"\n", args...)
	}
	verifier, err := note.NewVerifier(in.Key)
	if err != nil {
		fail("key: %v", err)
		os.Exit(1)
	}
	opened, err := note.Open([]byte(in.Checkpoint), note.VerifierList(verifier))
	if err != nil {
		fail("checkpoint: %v", err)
	} else if want := fmt.Sprintf("%s\n%d\n%s\n", in.Origin, in.Size, hash(in.Root)); opened.Text != want {
		fail("checkpoint text: %q, want %q", opened.Text, want)
	}
	for _, record := range in.Records {
		proof := tlog.RecordProof(hashes(record.Proof))
		if err := tlog.CheckRecord(proof, in.Size, hash(in.Root), record.Index, hash(record.Leaf)); err != nil {
			fail("record %d: %v", record.Index, err)
		}
	}
	for _, tree := range in.Trees {
		proof := tlog.TreeProof(hashes(tree.Proof))
		if err := tlog.CheckTree(proof, in.Size, hash(in.Root), tree.Size, hash(tree.Root)); err != nil {
			fail("tree %d: %v", tree.Size, err)
		}
	}
	if failed {
		os.Exit(1)
	}
}
