"""``python -m adbc_driver_tidemill``: tells other driver managers where the driver is."""

from __future__ import annotations

import argparse
import sys

import adbc_driver_tidemill
from adbc_driver_tidemill import manifest


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m adbc_driver_tidemill", description="The ADBC driver of Tidemill")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("path", help="print the path of the library")
    commands.add_parser("manifest", help="print the driver manifest")
    install = commands.add_parser("install", help="write the driver manifest where driver managers look for it")
    install.add_argument(
        "place",
        choices=manifest.PLACES,
        help="environment: the one that this Python runs in; user: ~/.config/adbc/drivers; system: /etc/adbc/drivers",
    )
    arguments = parser.parse_args()
    if arguments.command == "path":
        print(adbc_driver_tidemill.driver_path())
    elif arguments.command == "manifest":
        print(manifest.text(), end="")
    else:
        try:
            print(manifest.install(arguments.place))
        except (OSError, ValueError) as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
