//! A small company's books, as a program of the nineties would have stored them: DBF tables with FPT memos, in code page 850, with umlauts
//! and deleted records. They are the same each time.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use arrow_array::{ArrayRef, BooleanArray, Date32Array, Decimal128Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::ArrowError;
use tidemill_xbase::{CivilDate, CodePage, CreateOptions, FieldSpec, TableWriter};

const CUSTOMERS: u64 = 5_000;
const PRODUCTS: u64 = 800;
const ORDERS: u64 = 60_000;

/// Writes customers, products, orders and order lines into `dir`.
pub(super) fn make(dir: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(dir).with_context(|| format!("cannot create the folder {}", dir.display()))?;
    let mut random = Random(1989);
    customers(&mut random)?.write(dir, "CUSTOMERS")?;
    let (products, prices) = products(&mut random)?;
    products.write(dir, "PRODUCTS")?;
    let (orders, lines) = orders(&mut random, &prices)?;
    orders.write(dir, "ORDERS")?;
    lines.write(dir, "LINES")
}

/// A table under construction: fields with their columns, and the deletion marks.
struct Book {
    columns: Vec<(FieldSpec, ArrayRef)>,
    deleted: Vec<bool>,
}

impl Book {
    fn write(self, dir: &Path, name: &str) -> anyhow::Result<()> {
        let fields: Vec<FieldSpec> = self.columns.iter().map(|(field, _)| field.clone()).collect();
        let columns = self
            .columns
            .into_iter()
            .map(|(field, column)| (field.name, column, true));
        let batch = RecordBatch::try_from_iter_with_nullable(columns)?;
        let path = dir.join(name).with_extension("DBF");
        let mut options = CreateOptions::new(CivilDate {
            year: 2024,
            month: 9,
            day: 27,
        });
        options.codepage = CodePage::Cp850;
        let mut writer = TableWriter::create(&path, &fields, &options)?;
        writer.write(&batch, Some(&BooleanArray::from(self.deleted)))?;
        writer.finish()?;
        Ok(())
    }
}

fn customers(random: &mut Random) -> Result<Book, ArrowError> {
    let mut names = Vec::new();
    let mut cities = Vec::new();
    let mut countries = Vec::new();
    let mut since = Vec::new();
    let mut credit = Vec::new();
    let mut active = Vec::new();
    let mut deleted = Vec::new();
    for _ in 0..CUSTOMERS {
        let (city, country) = *random.one_of(CITIES);
        names.push(format!("{} {}", random.one_of(FAMILIES), random.one_of(TRADES)));
        cities.push(city);
        countries.push(country);
        since.push(FIRST_OF_2010 + random.days(4_000));
        credit.push((random.below(8) > 0).then(|| i128::from(random.below(500)) * 10_000));
        active.push((random.below(20) > 0).then(|| random.below(10) > 0));
        deleted.push(random.below(40) == 0);
    }
    Ok(Book {
        columns: vec![
            (FieldSpec::new("CUST_NO", 'N', 6, 0), numbers(CUSTOMERS)),
            (FieldSpec::new("NAME", 'C', 40, 0), Arc::new(StringArray::from(names))),
            (FieldSpec::new("CITY", 'C', 25, 0), Arc::new(StringArray::from(cities))),
            (
                FieldSpec::new("COUNTRY", 'C', 2, 0),
                Arc::new(StringArray::from(countries)),
            ),
            (FieldSpec::new("SINCE", 'D', 8, 0), Arc::new(Date32Array::from(since))),
            (FieldSpec::new("CREDIT", 'N', 10, 2), money(credit)?),
            (
                FieldSpec::new("ACTIVE", 'L', 1, 0),
                Arc::new(BooleanArray::from(active)),
            ),
        ],
        deleted,
    })
}

/// The products, and the price of each in cents.
fn products(random: &mut Random) -> Result<(Book, Vec<i128>), ArrowError> {
    let mut names = Vec::new();
    let mut categories = Vec::new();
    let mut prices = Vec::new();
    let mut deleted = Vec::new();
    for _ in 0..PRODUCTS {
        let (category, kinds) = *random.one_of(CATEGORIES);
        names.push(format!("{} {}", random.one_of(kinds), random.one_of(QUALITIES)));
        categories.push(category);
        prices.push(i128::from(random.below(48_000) + 195));
        deleted.push(random.below(100) == 0);
    }
    let book = Book {
        columns: vec![
            (FieldSpec::new("PROD_NO", 'N', 5, 0), numbers(PRODUCTS)),
            (FieldSpec::new("NAME", 'C', 30, 0), Arc::new(StringArray::from(names))),
            (
                FieldSpec::new("CATEGORY", 'C', 15, 0),
                Arc::new(StringArray::from(categories)),
            ),
            (
                FieldSpec::new("PRICE", 'N', 9, 2),
                money(prices.iter().copied().map(Some).collect())?,
            ),
        ],
        deleted,
    };
    Ok((book, prices))
}

/// The orders and their lines, about ten lines in three orders. A deleted order's lines are deleted with it.
fn orders(random: &mut Random, prices: &[i128]) -> Result<(Book, Book), ArrowError> {
    let mut customers = Vec::new();
    let mut ordered = Vec::new();
    let mut shipped = Vec::new();
    let mut paid = Vec::new();
    let mut totals = Vec::new();
    let mut notes = Vec::new();
    let mut deleted = Vec::new();

    let mut line_orders = Vec::new();
    let mut line_products = Vec::new();
    let mut quantities = Vec::new();
    let mut amounts = Vec::new();
    let mut line_notes = Vec::new();
    let mut line_deleted = Vec::new();

    for order in 0..ORDERS {
        let day = FIRST_OF_2022 + i32::try_from(order * 1_000 / ORDERS).unwrap_or(0);
        let gone = random.below(50) == 0;
        let mut total = 0;
        for _ in 0..random.below(5) + 1 + u64::from(random.below(3) == 0) {
            let product = random.below(PRODUCTS);
            let quantity = random.below(20) + 1;
            let price = usize::try_from(product)
                .ok()
                .and_then(|product| prices.get(product))
                .copied()
                .unwrap_or(0);
            let amount = price * i128::from(quantity);
            total += amount;
            line_orders.push(as_number(order + 1));
            line_products.push(as_number(product + 1));
            quantities.push(as_number(quantity));
            amounts.push(Some(amount));
            line_notes.push((random.below(25) == 0).then(|| *random.one_of(LINE_NOTES)));
            line_deleted.push(gone);
        }
        customers.push(as_number(random.below(CUSTOMERS) + 1));
        ordered.push(day);
        shipped.push((random.below(12) > 0).then(|| day + 1 + random.days(20)));
        paid.push(random.below(10) > 0);
        totals.push(Some(total));
        notes.push(
            (random.below(6) == 0).then(|| format!("{}\r\n{}", random.one_of(GREETINGS), random.one_of(ORDER_NOTES))),
        );
        deleted.push(gone);
    }
    let orders = Book {
        columns: vec![
            (FieldSpec::new("ORDER_NO", 'N', 7, 0), numbers(ORDERS)),
            (
                FieldSpec::new("CUST_NO", 'N', 6, 0),
                Arc::new(Int64Array::from(customers)),
            ),
            (
                FieldSpec::new("ORDERED", 'D', 8, 0),
                Arc::new(Date32Array::from(ordered)),
            ),
            (
                FieldSpec::new("SHIPPED", 'D', 8, 0),
                Arc::new(Date32Array::from(shipped)),
            ),
            (FieldSpec::new("PAID", 'L', 1, 0), Arc::new(BooleanArray::from(paid))),
            (FieldSpec::new("TOTAL", 'N', 11, 2), money(totals)?),
            (FieldSpec::new("NOTES", 'M', 10, 0), Arc::new(StringArray::from(notes))),
        ],
        deleted,
    };
    let lines = Book {
        columns: vec![
            (
                FieldSpec::new("ORDER_NO", 'N', 7, 0),
                Arc::new(Int64Array::from(line_orders)),
            ),
            (
                FieldSpec::new("PROD_NO", 'N', 5, 0),
                Arc::new(Int64Array::from(line_products)),
            ),
            (
                FieldSpec::new("QUANTITY", 'N', 4, 0),
                Arc::new(Int64Array::from(quantities)),
            ),
            (FieldSpec::new("AMOUNT", 'N', 11, 2), money(amounts)?),
            (
                FieldSpec::new("NOTE", 'M', 10, 0),
                Arc::new(StringArray::from(line_notes)),
            ),
        ],
        deleted: line_deleted,
    };
    Ok((orders, lines))
}

/// 1, 2, 3, ... `count`.
fn numbers(count: u64) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values((1..=count).map(as_number)))
}

/// Cents as amounts with two decimals.
fn money(cents: Vec<Option<i128>>) -> Result<ArrayRef, ArrowError> {
    Ok(Arc::new(Decimal128Array::from(cents).with_precision_and_scale(18, 2)?))
}

fn as_number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014): the same numbers on every
/// machine and in every version, which a library does not promise.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn days(&mut self, bound: u64) -> i32 {
        i32::try_from(self.below(bound)).unwrap_or(0)
    }

    fn one_of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        let index = usize::try_from(self.below(choices.len() as u64)).unwrap_or(0);
        &choices[index]
    }
}

/// Days since 1970-01-01.
const FIRST_OF_2010: i32 = 14_610;
const FIRST_OF_2022: i32 = 18_993;

const CITIES: &[(&str, &str)] = &[
    ("Köln", "DE"),
    ("München", "DE"),
    ("Düsseldorf", "DE"),
    ("Lübeck", "DE"),
    ("Würzburg", "DE"),
    ("Wien", "AT"),
    ("Mödling", "AT"),
    ("Zürich", "CH"),
    ("Genève", "CH"),
    ("Orléans", "FR"),
    ("Besançon", "FR"),
    ("Malmö", "SE"),
    ("Göteborg", "SE"),
    ("Ærøskøbing", "DK"),
    ("La Coruña", "ES"),
];

const FAMILIES: &[&str] = &[
    "Müller",
    "Weiß",
    "Schröder",
    "Jäger",
    "Köhler",
    "Brühl",
    "Krüger",
    "Østergård",
    "Lefèvre",
    "Muñoz",
    "Günther",
    "Bäcker",
    "Schäfer",
    "Voß",
    "Böhm",
    "Früh",
    "Ångström",
    "Hübner",
    "Lindström",
    "Kästner",
];

const TRADES: &[&str] = &[
    "& Söhne",
    "GmbH",
    "Werkzeuge",
    "Eisenwaren",
    "Handels AG",
    "Möbel",
    "Bürobedarf",
    "Küchen",
    "Großhandel",
    "Maschinenbau",
    "KG",
    "Fils",
    "& Co.",
];

const CATEGORIES: &[(&str, &[&str])] = &[
    ("Werkzeug", &["Hammer", "Säge", "Zange", "Bohrer", "Schraubenschlüssel"]),
    ("Küche", &["Schüssel", "Töpfe", "Messer", "Mühle"]),
    ("Büro", &["Locher", "Hefter", "Ordner", "Füller", "Aktenkörbe"]),
    ("Garten", &["Gießkanne", "Schläuche", "Heckenschere", "Zäune"]),
    ("Elektro", &["Kabel", "Stecker", "Glühlampe", "Prüfgerät"]),
    ("Möbel", &["Stühle", "Tisch", "Regal", "Schränke"]),
];

const QUALITIES: &[&str] = &[
    "Standard",
    "Größe M",
    "Größe XL",
    "rostfrei",
    "grün",
    "für Profis",
    "extra stark",
    "Modell 85",
    "zweite Wahl",
];

const GREETINGS: &[&str] = &[
    "Telefonisch bestellt.",
    "Per Fax.",
    "Frau Schäfer ruft zurück.",
    "Auf der Messe in Köln.",
];

const ORDER_NOTES: &[&str] = &[
    "Bitte vor 10 Uhr anliefern, die Einfahrt ist schmal.\r\nSchlüssel beim Pförtner.",
    "Ware nur gegen Vorkasse: zwei Rechnungen sind noch offen.",
    "Teillieferung möglich.",
    "Kunde wünscht die Rechnung in französischer Sprache.",
    "Rückfrage wegen der Größen, bevor geliefert wird.",
];

const LINE_NOTES: &[&str] = &[
    "Auslaufmodell",
    "Ersatz für beschädigte Lieferung",
    "mit Gravur: für Jürgen",
    "Maße prüfen",
    "grün statt blau",
];
