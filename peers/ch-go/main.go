// A contender of the benchmarks: ch-go, put to the work that the arguments tell.
//
// The words are those of `Work` in peers/src/clickhouse.rs: `ADDRESS small COLUMNS ROWS COUNT`, `ADDRESS select COMPRESSION`
// and `ADDRESS insert COMPRESSION`.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"strings"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
)

const (
	selectRows   = 100_000_000
	blockRows    = 65_536
	insertBlocks = 153
)

func main() {
	address, work := os.Args[1], os.Args[2:]
	ctx := context.Background()
	options := ch.Options{Address: address}
	if work[0] != "small" {
		options.Compression = map[string]ch.Compression{
			"none": ch.CompressionDisabled,
			"lz4":  ch.CompressionLZ4,
		}[work[1]]
	}
	client, err := ch.Dial(ctx, options)
	check(err)
	switch work[0] {
	case "small":
		columns, rows, count := number(work[1]), number(work[2]), number(work[3])
		for range count {
			small(ctx, client, columns, rows)
		}
	case "select":
		read(ctx, client)
	case "insert":
		insert(ctx, client)
	}
}

func small(ctx context.Context, client *ch.Client, columns, rows int) {
	var names []string
	var results proto.Results
	data := make([]proto.ColUInt64, columns)
	for at := range columns {
		names = append(names, fmt.Sprintf("number + %d AS c%d", at, at))
		results = append(results, proto.ResultColumn{Name: fmt.Sprintf("c%d", at), Data: &data[at]})
	}
	found := 0
	check(client.Do(ctx, ch.Query{
		Body:   fmt.Sprintf("SELECT %s FROM system.numbers LIMIT %d", strings.Join(names, ", "), rows),
		Result: results,
		OnResult: func(context.Context, proto.Block) error {
			found += data[0].Rows()
			return nil
		},
	}))
	expect(found, rows)
}

func read(ctx context.Context, client *ch.Client) {
	var data proto.ColUInt64
	found := 0
	check(client.Do(ctx, ch.Query{
		Body:   fmt.Sprintf("SELECT number FROM system.numbers_mt LIMIT %d", selectRows),
		Result: proto.Results{{Name: "number", Data: &data}},
		OnResult: func(context.Context, proto.Block) error {
			found += data.Rows()
			return nil
		},
	}))
	expect(found, selectRows)
}

// The same block again and again, which is made once.
func insert(ctx context.Context, client *ch.Client) {
	var ids proto.ColUInt64
	var texts proto.ColStr
	for id := range blockRows {
		ids.Append(uint64(id))
		texts.Append(fmt.Sprintf("%0*d", 8+id%13, id))
	}
	input := proto.Input{{Name: "id", Data: &ids}, {Name: "s", Data: &texts}}
	blocks := 1
	check(client.Do(ctx, ch.Query{
		Body:  input.Into("nowhere"),
		Input: input,
		OnInput: func(context.Context) error {
			if blocks == insertBlocks {
				input.Reset()
				return io.EOF
			}
			blocks++
			return nil
		},
	}))
	expect(blocks, insertBlocks)
}

func number(text string) int {
	number, err := strconv.Atoi(text)
	check(err)
	return number
}

func expect(found, expected int) {
	if found != expected {
		log.Fatalf("%d instead of %d", found, expected)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
