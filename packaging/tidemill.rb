# Homebrew's formula. `cargo xtask package` fills in where the source archive is, and its checksum.
class Tidemill < Formula
  desc "Query, convert and check data in legacy formats"
  homepage "@url@"
  url "@url@/tidemill-@version@.tar.gz"
  sha256 "@sha256@"
  license "Apache-2.0"

  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args(path: "crates/tidemill")
    system "cargo", "build", "--locked", "--release", "-p", "tidemill-adbc"
    lib.install "target/release/#{shared_library("libtidemill_adbc")}"
    generate_completions_from_executable(bin/"tidemill", "completions")
    system bin/"tidemill", "man", buildpath/"man"
    man1.install Dir["man/*.1"]
  end

  test do
    system bin/"tidemill", "self-check", testpath
  end
end
