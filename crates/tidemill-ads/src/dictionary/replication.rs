//! Publications, their articles and subscriptions: what a dictionary keeps of replication (SAP's help, "Replication Overview").
//!
//! # What this module does not do
//!
//! Nothing is replicated: that is a server's work. Passwords of subscriptions are not kept, for they would be readable.

use super::Dictionary;
use super::administration::{found, invalid_name, not_completed, put_text};
use super::object::{Kind, Object, place};
use super::programs::{new_object, text_or_empty};
use super::property::ObjectKind;
use crate::connection::Connection;
use crate::error::{Error, ErrorCode, Result};
use crate::settings::Settings;

/// A table that a publication is to have.
#[derive(Debug, Clone, Copy)]
pub struct NewArticle<'a> {
    /// The table.
    pub table: &'a str,
    /// The columns that records are found by at the target, with semicolons or commas between them.
    pub id_columns: &'a str,
    /// Which records are replicated; empty for all.
    pub filter: &'a str,
    /// Whether the columns of the primary key are among those that records are found by.
    pub by_primary_key: bool,
    /// Whether records are found by all columns that can be searched.
    pub by_all: bool,
}

/// A subscription that a dictionary is to have.
#[derive(Debug, Clone, Copy)]
pub struct NewSubscription<'s> {
    /// Its name.
    pub name: &'s str,
    /// The publication whose articles are replicated.
    pub publication: &'s str,
    /// The dictionary that they are replicated to, and who changes its tables.
    pub target: &'s str,
    /// The user there.
    pub user: &'s str,
    /// His password, which must be empty.
    pub password: &'s str,
    /// The table of the changes that wait.
    pub queue: &'s str,
    /// Whether changes that were replicated here are passed on.
    pub forwards: bool,
    /// What it is about.
    pub comment: &'s str,
    /// `ADS_SUBSCR_QUEUE_IS_STATIC` and the like.
    pub options: u32,
}

impl Connection {
    /// Makes a publication without articles. It is no part of a transaction.
    ///
    /// # Errors
    /// [`ErrorCode::DdRequestNotCompleted`] for a name that a publication has; [`ErrorCode::InvalidObjectName`];
    /// [`ErrorCode::PermissionDenied`]; when the dictionary cannot be written.
    pub fn create_publication(&mut self, name: &str, comment: &str, settings: &Settings) -> Result<()> {
        let mut publication = new_object(Kind::Publication, name)?;
        comment.clone_into(&mut publication.comment);
        let options = Some(0_u32.to_le_bytes().to_vec());
        publication.values.set(place::PUBLICATION_OPTIONS, options);
        self.add_of_dictionary(publication, settings)
    }

    /// Removes a publication and its articles. It is no part of a transaction.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for one that is not there or has subscriptions; [`ErrorCode::PermissionDenied`]; when the
    /// dictionary cannot be written.
    pub fn drop_publication(&mut self, name: &str, settings: &Settings) -> Result<()> {
        let dictionary = self.dictionary_to_change()?;
        dictionary.renew()?;
        let number = dictionary.object(ObjectKind::Publication, ("", name))?.number;
        let mut subscriptions = dictionary.of_kind(Kind::Subscription).into_iter();
        if let Some(used) = subscriptions.find(|known| known.refers_to() == Some(number)) {
            let what = format!("{used} uses the publication {name}");
            return Err(Error::new(ErrorCode::InvalidObjectName, what));
        }
        dictionary.change(settings, |changing| changing.remove(number))
    }

    /// Takes a table into a publication. It is no part of a transaction.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for a publication or a table that is not there; [`ErrorCode::InvalidFieldName`] for a column that
    /// the table has not; [`ErrorCode::DdRequestNotCompleted`] for a table that the publication has; [`ErrorCode::PermissionDenied`]; when
    /// the dictionary cannot be written.
    pub fn create_article(&mut self, publication: &str, article: &NewArticle<'_>, settings: &Settings) -> Result<()> {
        let dictionary = self.dictionary_to_change()?;
        dictionary.renew()?;
        let parent = dictionary.object(ObjectKind::Publication, ("", publication))?.number;
        let columns = dictionary.id_columns(article)?;
        let mut object = new_object(Kind::Article, &dictionary.table(article.table)?.name.clone())?;
        object.parent = parent;
        put_text(&mut object, place::ARTICLE_FILTER, article.filter);
        put_text(&mut object, place::ARTICLE_ID_COLUMNS, &columns);
        dictionary.change(settings, |changing| {
            let is_it = |known: &Object| known.is(Kind::Article, parent) && known.is_called(&object.name);
            if let Some(known) = changing.objects().iter().find(|known| is_it(known)) {
                return Err(not_completed(&format!(
                    "the publication {publication} has the {known} already"
                )));
            }
            changing.add(object).map(drop)
        })
    }

    /// Takes a table out of a publication. It is no part of a transaction.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for a publication or an article that is not there; [`ErrorCode::PermissionDenied`]; when the
    /// dictionary cannot be written.
    pub fn drop_article(&mut self, publication: &str, article: &str, settings: &Settings) -> Result<()> {
        self.drop_of_replication(ObjectKind::Article, (publication, article), settings)
    }

    /// Makes a subscription. It is no part of a transaction.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for a publication that is not there; [`ErrorCode::InvalidProperty`] without a target or a queue;
    /// [`ErrorCode::NotImplemented`] for a password, which is not kept; [`ErrorCode::DdRequestNotCompleted`] for a name that a subscription
    /// has; [`ErrorCode::PermissionDenied`]; when the dictionary cannot be written.
    pub fn create_subscription(&mut self, subscription: &NewSubscription<'_>, settings: &Settings) -> Result<()> {
        if !subscription.password.is_empty() {
            return Err(no_password());
        }
        for (what, text) in [("target", subscription.target), ("queue", subscription.queue)] {
            if text.trim().is_empty() {
                let what = format!("{}: a subscription has a {what}", subscription.name);
                return Err(Error::new(ErrorCode::InvalidProperty, what));
            }
        }
        let dictionary = self.dictionary_to_change()?;
        dictionary.renew()?;
        let publication = dictionary.object(ObjectKind::Publication, ("", subscription.publication))?;
        let mut object = new_object(Kind::Subscription, subscription.name)?.info(publication.number);
        subscription.comment.clone_into(&mut object.comment);
        put_text(&mut object, place::SUBSCRIPTION_TARGET, subscription.target);
        put_text(&mut object, place::SUBSCRIPTION_USER, subscription.user);
        put_text(&mut object, place::SUBSCRIPTION_QUEUE, subscription.queue);
        for (place, is_so) in [
            (place::SUBSCRIPTION_FORWARD, subscription.forwards),
            (place::SUBSCRIPTION_ENABLED, true),
        ] {
            object.values.set(place, Some(u16::from(is_so).to_le_bytes().to_vec()));
        }
        let options = Some(subscription.options.to_le_bytes().to_vec());
        object.values.set(place::SUBSCRIPTION_OPTIONS, options);
        self.add_of_dictionary(object, settings)
    }

    /// Removes a subscription. It is no part of a transaction.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidObjectName`] for one that is not there; [`ErrorCode::PermissionDenied`]; when the dictionary cannot be written.
    pub fn drop_subscription(&mut self, name: &str, settings: &Settings) -> Result<()> {
        self.drop_of_replication(ObjectKind::Subscription, ("", name), settings)
    }

    /// Adds an object that belongs to the dictionary as a whole, where none of its kind has its name.
    fn add_of_dictionary(&mut self, object: Object, settings: &Settings) -> Result<()> {
        self.dictionary_to_change()?.change(settings, |changing| {
            let is_it = |known: &Object| known.kind == object.kind && known.is_called(&object.name);
            if let Some(known) = changing.objects().iter().find(|known| is_it(known)) {
                return Err(not_completed(&format!("the data dictionary has a {known} already")));
            }
            let parent = found(changing, |known| known.kind == Kind::Database, "database")?.number;
            changing.add(Object { parent, ..object }).map(drop)
        })
    }

    fn drop_of_replication(&mut self, kind: ObjectKind, names: (&str, &str), settings: &Settings) -> Result<()> {
        let dictionary = self.dictionary_to_change()?;
        dictionary.renew()?;
        let number = dictionary.object(kind, names)?.number;
        dictionary.change(settings, |changing| changing.remove(number))
    }
}

impl Dictionary {
    /// The publication that an article or a subscription is of.
    pub(super) fn publication_of(&self, object: &Object) -> Option<&Object> {
        let number = match object.kind {
            Kind::Article => Some(object.parent),
            _ => object.refers_to(),
        };
        let mut publications = self.of_kind(Kind::Publication).into_iter();
        publications.find(|publication| Some(publication.number) == number)
    }

    /// The columns that records of an article are found by, with semicolons between them.
    fn id_columns(&self, article: &NewArticle<'_>) -> Result<String> {
        let table = self.table(article.table)?;
        let mut fields = self.children(Kind::Field, table.number);
        fields.sort_by_key(|field| field.info[0]);
        if article.by_all {
            let searched = fields.iter().filter(|field| can_be_searched(field));
            let names: Vec<&str> = searched.map(|field| field.name.as_str()).collect();
            return Ok(names.join(";"));
        }
        let mut names: Vec<String> = Vec::new();
        if article.by_primary_key {
            let Some(key) = self.primary_key(table) else {
                let what = format!("{} has no primary key that records are found by", article.table);
                return Err(Error::new(ErrorCode::InvalidObjectName, what));
            };
            let expression = text_or_empty(key, place::KEY_EXPRESSION);
            names.extend(expression.split([';', '+']).map(|name| name.trim().to_owned()));
        }
        let given = article.id_columns.split([';', ',']).map(str::trim);
        names.extend(given.filter(|name| !name.is_empty()).map(str::to_owned));
        let mut known: Vec<&str> = Vec::new();
        for name in &names {
            let Some(field) = fields.iter().find(|field| field.is_called(name)) else {
                let what = format!("{} has no column {name}", article.table);
                return Err(Error::new(ErrorCode::InvalidFieldName, what));
            };
            if !known.contains(&field.name.as_str()) {
                known.push(&field.name);
            }
        }
        match known.is_empty() {
            false => Ok(known.join(";")),
            true => {
                let what = format!("no column is said that records of {} are found by", article.table);
                Err(Error::new(ErrorCode::InvalidProperty, what))
            }
        }
    }
}

/// Whether a condition can compare a field with a value: not memos, binaries and images, nor `RowVersion` and `ModTime`, which change by
/// themselves.
fn can_be_searched(field: &Object) -> bool {
    const NOT: [u16; 6] = [5, 6, 7, 21, 22, 28];
    let definition = field.values.get(place::FIELD_DEFINITION);
    let own = definition
        .and_then(|bytes| bytes.first_chunk())
        .map(|bytes| u16::from_le_bytes(*bytes));
    own.is_none_or(|own| !NOT.contains(&own))
}

pub(super) fn no_password() -> Error {
    let what = "a password of a subscription is not kept in a data dictionary, where it would be readable";
    Error::new(ErrorCode::NotImplemented, what)
}

/// The number of the publication that a subscription is to use.
pub(super) fn publication_named(dictionary: &Dictionary, name: &str) -> Result<u32> {
    let publication = dictionary.object(ObjectKind::Publication, ("", name));
    publication
        .map(|publication| publication.number)
        .map_err(|_| invalid_name(name))
}
