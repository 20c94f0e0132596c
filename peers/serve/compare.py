"""`tidemill serve` beside PostgreSQL: the same table on the same machine, in one run.

    python3 compare.py --tidemill PROGRAM --postgres CONNINFO [--rows 1000000] [--rounds 3]

CONNINFO is that of a running PostgreSQL whose database may be written, as psycopg takes it. Needs psycopg, adbc-driver-flightsql,
adbc-driver-manager and pyarrow of PyPI, and pgbench. Shows, per way of reading and round, the time on the wall, and processor time of
the client and of the server; look-ups a second by pgbench with their 99th percentile; memory of idle connections.
"""

import argparse
import glob
import os
import re
import resource
import signal
import statistics
import subprocess
import tempfile
import time

import adbc_driver_flightsql.dbapi as flightsql
import psycopg

TICKS = os.sysconf("SC_CLK_TCK")


def processor_time(process):
    with open(f"/proc/{process}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory(process):
    with open(f"/proc/{process}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1]) / 1024


def measured(server, work):
    def spent():
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return usage.ru_utime + usage.ru_stime

    client, ours, wall = spent(), processor_time(server), time.perf_counter()
    rows = work()
    return rows, time.perf_counter() - wall, spent() - client, processor_time(server) - ours


def by_flight(uri):
    with flightsql.connect(uri, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT id, name, total FROM wide")
        return cursor.fetch_arrow_table().num_rows


def backend(connection):
    return connection.execute("SELECT pg_backend_pid()").fetchone()[0]


def look_ups(name, address, clients, seconds, rows):
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "look_up.sql")
        with open(script, "w") as file:
            file.write(f"\\set id random(1, {rows})\nSELECT name FROM wide WHERE id = :id;\n")
        command = ["pgbench", "-n", "-M", "prepared", "-f", script, "-c", str(clients), "-j", "1", "-T", str(seconds)]
        command += ["--log", "--log-prefix", os.path.join(folder, "log"), *address]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PGSSLMODE": "disable"})
        assert done.returncode == 0, done.stderr
        tps = float(re.search(r"tps = ([\d.]+)", done.stdout)[1])
        latencies = []
        for log in glob.glob(os.path.join(folder, "log.*")):
            with open(log) as lines:
                latencies += [int(line.split()[2]) for line in lines]
        percentile = statistics.quantiles(latencies, n=100)[98] / 1000
        print(f"{name:<34} {tps:9.0f} look-ups a second   p99 {percentile:.2f} ms", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tidemill", required=True)
    parser.add_argument("--postgres", required=True)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compare(args, folder)


def compare(args, folder):
    rows = args.rows
    made = os.path.join(folder, "wide.csv")
    with open(made, "w") as file:
        file.write("id,name,total\n")
        file.writelines(f"{number},name {number % 1000},{number % 997}.{number % 100:02}\n" for number in range(1, rows + 1))
    table = "CREATE TABLE wide (id Integer, name Char(12), total Numeric(12, 2))"
    books = os.path.join(folder, "books")
    os.mkdir(books)
    for statement in [table, f"INSERT INTO wide SELECT id, name, total FROM '{made}'", "CREATE INDEX id ON wide (id)"]:
        subprocess.run([args.tidemill, "sql", "--dir", books, statement], check=True, capture_output=True)
    with psycopg.connect(args.postgres, autocommit=True) as rival:
        rival.execute("DROP TABLE IF EXISTS wide")
        rival.execute("CREATE TABLE wide (id integer, name varchar(12), total numeric(12, 2))")
        with open(made) as file, rival.cursor() as cursor, cursor.copy("COPY wide FROM STDIN CSV HEADER") as copy:
            while block := file.read(1 << 16):
                copy.write(block)
        rival.execute("CREATE INDEX ON wide (id)")
        rival.execute("VACUUM ANALYZE wide")
        print(rival.execute("SELECT version()").fetchone()[0])
    serve = [args.tidemill, "serve", books, "--quiet"]
    for door in ["--postgres", "--flight", "--http"]:
        serve += [door, "127.0.0.1:0"]
    server = subprocess.Popen(serve, stdout=subprocess.PIPE, text=True)
    try:
        lines = [server.stdout.readline() for _ in range(4)]
        port = re.search(r"port=(\d+)", lines[0])[1]
        uri = re.search(r"grpc://\S+", lines[1])[0]
        ours = f"host=127.0.0.1 port={port} dbname=tidemill user=ann"
        bench(args, server.pid, ours, port, uri)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()


def rival_time(conninfo, work):
    """Runs work over a connection whose process is known, and says what that process spent."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        return measured(backend(connection), lambda: work(connection))


def bench(args, server, ours, port, uri):
    def rows_of(binary):
        def work(connection):
            with connection.cursor(binary=binary) as cursor:
                cursor.execute("SELECT id, name, total FROM wide")
                return sum(1 for _ in cursor)

        return work

    def copy_of(how):
        def work(connection):
            with connection.cursor() as cursor, cursor.copy(f"COPY wide TO STDOUT {how}") as copy:
                return sum(len(block) for block in copy)

        return work

    ways = [
        ("rows, binary", rows_of(True)),
        ("rows, text", rows_of(False)),
        ("COPY, text", copy_of("")),
        ("COPY, binary", copy_of("(FORMAT binary)")),
    ]
    for _ in range(args.rounds):
        for name, work in ways:
            _, wall, client, spent = rival_time(args.postgres, work)
            print(f"{'PostgreSQL: ' + name:<30} wall {wall:6.3f} s   client {client:6.3f}   server {spent:6.3f}")
            with psycopg.connect(ours, autocommit=True) as connection:
                _, wall, client, spent = measured(server, lambda: work(connection))
            print(f"{'Tidemill:   ' + name:<30} wall {wall:6.3f} s   client {client:6.3f}   server {spent:6.3f}", flush=True)
        count, wall, client, spent = measured(server, lambda: by_flight(uri))
        assert count == args.rows
        print(f"{'Tidemill:   Flight SQL':<30} wall {wall:6.3f} s   client {client:6.3f}   server {spent:6.3f}", flush=True)
    rival = psycopg.conninfo.conninfo_to_dict(args.postgres)
    there = ["-h", rival["host"], "-p", str(rival.get("port", 5432)), "-U", rival["user"], rival["dbname"]]
    here = ["-h", "127.0.0.1", "-p", port, "-U", "ann", "tidemill"]
    for clients in [1, 16]:
        for name, address in [("PostgreSQL", there), ("Tidemill", here)]:
            look_ups(f"{name}: {clients} clients", address, clients, 5, args.rows)
    before = memory(server)
    idle = [psycopg.connect(ours, autocommit=True) for _ in range(480)]
    for connection in idle:
        connection.execute("SELECT 1")
    print(f"Tidemill: 480 idle connections after a statement each, {(memory(server) - before) / 480 * 1024:.0f} KiB each")
    for connection in idle:
        connection.close()


if __name__ == "__main__":
    main()
