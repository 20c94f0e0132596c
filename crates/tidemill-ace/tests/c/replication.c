/*
 * Publications, articles and subscriptions, which a dictionary keeps, and what programs keep in its objects for themselves.
 */
#include <unistd.h>

#include "check.h"

static ADSHANDLE dictionary;
static UNSIGNED8 text[200];
static UNSIGNED16 length;

static void tables(void)
{
    ADSHANDLE folder = 0, table = 0, order = 0;

    OK(AdsConnect(TEXT("."), &folder));
    OK(AdsCreateTable(folder, TEXT("orders"), NULL, ADS_ADT, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, 0,
                      TEXT("ID,Integer;Customer,Character,20;Note,Memo;Changed,ModTime"), &table));
    OK(AdsCreateIndex61(table, NULL, TEXT("BYID"), TEXT("ID"), NULL, NULL, ADS_COMPOUND | ADS_UNIQUE, 0, &order));
    OK(AdsCloseTable(table));
    OK(AdsDisconnect(folder));
    OK(AdsDDCreate(TEXT("shop.add"), 0, TEXT("a shop"), &dictionary));
    OK(AdsDDAddTable(dictionary, TEXT("orders"), TEXT("orders.adt"), ADS_ADT, ADS_ANSI, NULL, NULL));
    OK(AdsDDSetTableProperty(dictionary, TEXT("orders"), ADS_DD_TABLE_PRIMARY_KEY, "BYID", 5, ADS_NO_VALIDATE, NULL));
}

static const char *article(UNSIGNED16 property)
{
    length = sizeof text;
    OK(AdsDDGetArticleProperty(dictionary, TEXT("all"), TEXT("orders"), property, text, &length));
    return (const char *) text;
}

static const char *subscription(UNSIGNED16 property)
{
    length = sizeof text;
    OK(AdsDDGetSubscriptionProperty(dictionary, TEXT("branch"), property, text, &length));
    return (const char *) text;
}

static UNSIGNED16 flag(UNSIGNED16 property)
{
    UNSIGNED16 answer = 77;

    length = 2;
    OK(AdsDDGetSubscriptionProperty(dictionary, TEXT("branch"), property, &answer, &length));
    return answer;
}

static void publications(void)
{
    UNSIGNED32 options = 77;
    UNSIGNED16 is_so = 1;

    OK(AdsDDCreatePublication(dictionary, TEXT("all"), TEXT("what branches get"), ADS_DEFAULT));
    IS(AdsDDCreatePublication(dictionary, TEXT("ALL"), NULL, ADS_DEFAULT), AE_DD_REQUEST_NOT_COMPLETED);
    IS(AdsDDCreatePublication(dictionary, TEXT("other"), NULL, 1), AE_INVALID_OPTION);
    length = sizeof text;
    OK(AdsDDGetPublicationProperty(dictionary, TEXT("all"), ADS_DD_COMMENT, text, &length));
    SAME(text, "what branches get");
    length = sizeof options;
    OK(AdsDDGetPublicationProperty(dictionary, TEXT("all"), ADS_DD_PUBLICATION_OPTIONS, &options, &length));
    IS(options, 0);
    OK(AdsDDSetPublicationProperty(dictionary, TEXT("all"), ADS_DD_USER_DEFINED_PROP, "\0\1\2", 3));
    length = sizeof text;
    OK(AdsDDGetPublicationProperty(dictionary, TEXT("all"), ADS_DD_USER_DEFINED_PROP, text, &length));
    IS(length, 3);
    IS(text[2], 2);
    IS(AdsDDSetPublicationProperty(dictionary, TEXT("all"), ADS_DD_PUBLICATION_OPTIONS, &options, 4), AE_INVALID_PROPERTY_ID);
    IS(AdsDDGetPublicationProperty(dictionary, TEXT("none"), ADS_DD_COMMENT, text, &length), AE_INVALID_OBJECT_NAME);

    IS(AdsDDCreateArticle(dictionary, TEXT("none"), TEXT("orders"), NULL, NULL, ADS_IDENTIFY_BY_ALL), AE_INVALID_OBJECT_NAME);
    IS(AdsDDCreateArticle(dictionary, TEXT("all"), TEXT("none"), NULL, NULL, ADS_IDENTIFY_BY_ALL), AE_INVALID_OBJECT_NAME);
    IS(AdsDDCreateArticle(dictionary, TEXT("all"), TEXT("orders"), TEXT("None"), NULL, 0), AE_INVALID_FIELDNAME);
    IS(AdsDDCreateArticle(dictionary, TEXT("all"), TEXT("orders"), NULL, NULL, 0), AE_INVALID_PROPERTY);
    IS(AdsDDCreateArticle(dictionary, TEXT("all"), TEXT("orders"), NULL, NULL, 8), AE_INVALID_OPTION);
    OK(AdsDDCreateArticle(dictionary, TEXT("all"), TEXT("orders"), NULL, TEXT("ID > 100"), ADS_IDENTIFY_BY_ALL));
    IS(AdsDDCreateArticle(dictionary, TEXT("all"), TEXT("orders"), TEXT("ID"), NULL, 0), AE_DD_REQUEST_NOT_COMPLETED);
    SAME(article(ADS_DD_ARTICLE_ID_COLUMNS), "ID;Customer");
    SAME(article(ADS_DD_ARTICLE_FILTER), "ID > 100");
    OK(AdsDDDeleteArticle(dictionary, TEXT("all"), TEXT("orders")));
    IS(AdsDDDeleteArticle(dictionary, TEXT("all"), TEXT("orders")), AE_INVALID_OBJECT_NAME);
    OK(AdsDDCreateArticle100(dictionary, TEXT("all"), TEXT("orders"), TEXT("customer"), utf16("ID > 7"), ADS_IDENTIFY_BY_PRIMARY));
    SAME(article(ADS_DD_ARTICLE_ID_COLUMNS), "ID;Customer");
    length = sizeof text;
    OK(AdsDDGetArticleProperty(dictionary, TEXT("all"), TEXT("orders"), ADS_DD_ARTICLE_FILTER_W, text, &length));
    IS(length, 14);
    OK(AdsDDSetArticleProperty(dictionary, TEXT("all"), TEXT("orders"), ADS_DD_ARTICLE_FILTER, "ID > 8", 7));
    SAME(article(ADS_DD_ARTICLE_FILTER), "ID > 8");
    OK(AdsDDSetArticleProperty(dictionary, TEXT("all"), TEXT("orders"), ADS_DD_ARTICLE_INCLUDE_COLUMNS, "ID", 3));
    OK(AdsDDSetArticleProperty(dictionary, TEXT("all"), TEXT("orders"), ADS_DD_ARTICLE_EXCLUDE_COLUMNS, "Note", 5));
    SAME(article(ADS_DD_ARTICLE_EXCLUDE_COLUMNS), "Note");
    length = sizeof text;
    IS(AdsDDGetArticleProperty(dictionary, TEXT("all"), TEXT("orders"), ADS_DD_ARTICLE_INCLUDE_COLUMNS, text, &length),
       AE_PROPERTY_NOT_SET);
    IS(AdsDDSetArticleProperty(dictionary, TEXT("all"), TEXT("orders"), ADS_DD_ARTICLE_ID_COLUMNS, "", 1), AE_INVALID_PROPERTY);
    OK(AdsDDSetArticleProperty(dictionary, TEXT("all"), TEXT("orders"), ADS_DD_ARTICLE_UPDATE_MERGE, &is_so, 2));
    is_so = 0;
    length = 2;
    OK(AdsDDGetArticleProperty(dictionary, TEXT("all"), TEXT("orders"), ADS_DD_ARTICLE_UPDATE_MERGE, &is_so, &length));
    IS(is_so, 1);
}

static void subscriptions(void)
{
    UNSIGNED32 options = 0;
    UNSIGNED16 is_so = 1;

    IS(AdsDDCreateSubscription(dictionary, TEXT("branch"), TEXT("none"), TEXT("\\\\north\\shop\\shop.add"), NULL, NULL,
                               TEXT("queue.adt"), 0, NULL, 0),
       AE_INVALID_OBJECT_NAME);
    IS(AdsDDCreateSubscription(dictionary, TEXT("branch"), TEXT("all"), TEXT("\\\\north\\shop\\shop.add"), TEXT("rep"),
                               TEXT("secret"), TEXT("queue.adt"), 0, NULL, 0),
       AE_FUNCTION_NOT_AVAILABLE);
    IS(AdsDDCreateSubscription(dictionary, TEXT("branch"), TEXT("all"), TEXT(""), NULL, NULL, TEXT("queue.adt"), 0, NULL, 0),
       AE_INVALID_PROPERTY);
    IS(AdsDDCreateSubscription(dictionary, TEXT("branch"), TEXT("all"), TEXT("x"), NULL, NULL, TEXT("queue.adt"), 0, NULL, 64),
       AE_INVALID_OPTION);
    OK(AdsDDCreateSubscription(dictionary, TEXT("branch"), TEXT("all"), TEXT("\\\\north\\shop\\shop.add"), TEXT("rep"), NULL,
                               TEXT("queue.adt"), 1, TEXT("the north"), ADS_SUBSCR_IGNORE_FAILED_REP));
    SAME(subscription(ADS_DD_SUBSCR_PUBLICATION_NAME), "all");
    SAME(subscription(ADS_DD_SUBSCR_TARGET), "\\\\north\\shop\\shop.add");
    SAME(subscription(ADS_DD_SUBSCR_USERNAME), "rep");
    SAME(subscription(ADS_DD_SUBSCR_QUEUE_NAME), "queue.adt");
    SAME(subscription(ADS_DD_COMMENT), "the north");
    IS(flag(ADS_DD_SUBSCR_FORWARD), 1);
    IS(flag(ADS_DD_SUBSCR_ENABLED), 1);
    IS(flag(ADS_DD_SUBSCR_PAUSED), 0);
    length = sizeof options;
    OK(AdsDDGetSubscriptionProperty(dictionary, TEXT("branch"), ADS_DD_SUBSCR_OPTIONS, &options, &length));
    IS(options, ADS_SUBSCR_IGNORE_FAILED_REP);
    OK(AdsDDSetSubscriptionProperty(dictionary, TEXT("branch"), ADS_DD_SUBSCR_COMM_TCP_IP, &is_so, 2));
    OK(AdsDDSetSubscriptionProperty(dictionary, TEXT("branch"), ADS_DD_SUBSCR_COMM_TLS, &is_so, 2));
    IS(flag(ADS_DD_SUBSCR_COMM_TCP_IP), 0);
    IS(flag(ADS_DD_SUBSCR_COMM_TLS), 1);
    IS(AdsDDSetSubscriptionProperty(dictionary, TEXT("branch"), ADS_DD_SUBSCR_PASSWORD, "secret", 7), AE_FUNCTION_NOT_AVAILABLE);
    length = sizeof text;
    IS(AdsDDGetSubscriptionProperty(dictionary, TEXT("branch"), ADS_DD_SUBSCR_PASSWORD, text, &length), AE_INVALID_PROPERTY_ID);
    IS(AdsDDSetSubscriptionProperty(dictionary, TEXT("branch"), ADS_DD_SUBSCR_PUBLICATION_NAME, "none", 5), AE_INVALID_OBJECT_NAME);
    IS(AdsDDDeletePublication(dictionary, TEXT("all")), AE_INVALID_OBJECT_NAME);
}

static void listed(void)
{
    ADSHANDLE statement = 0, cursor = 0, search = 0;
    UNSIGNED16 is_so = 0;

    OK(AdsCreateSQLStatement(dictionary, &statement));
    OK(AdsExecuteSQLDirect(statement, TEXT("SELECT name, publication, forward, paused, options FROM system.subscriptions"), &cursor));
    SAME(trimmed(cursor, "NAME"), "branch");
    SAME(trimmed(cursor, "PUBLICATION"), "all");
    OK(AdsGetLogical(cursor, TEXT("FORWARD"), &is_so));
    IS(is_so, 1);
    OK(AdsGetLogical(cursor, TEXT("PAUSED"), &is_so));
    IS(is_so, 0);
    OK(AdsExecuteSQLDirect(statement, TEXT("SELECT name, parent, ident_columns FROM system.articles"), &cursor));
    SAME(trimmed(cursor, "NAME"), "orders");
    SAME(trimmed(cursor, "PARENT"), "all");
    SAME(trimmed(cursor, "IDENT_COLUMNS"), "ID;Customer");
    OK(AdsExecuteSQLDirect(statement, TEXT("SELECT name, comment FROM system.publications"), &cursor));
    SAME(trimmed(cursor, "COMMENT"), "what branches get");
    OK(AdsCloseSQLStatement(statement));
    length = sizeof text;
    OK(AdsDDFindFirstObject(dictionary, ADS_DD_ARTICLE_OBJECT, TEXT("all"), text, &length, &search));
    SAME(text, "orders");
    OK(AdsDDFindClose(dictionary, search));
    OK(AdsDDDeleteSubscription(dictionary, TEXT("branch")));
    IS(AdsDDDeleteSubscription(dictionary, TEXT("branch")), AE_INVALID_OBJECT_NAME);
    OK(AdsDDDeletePublication(dictionary, TEXT("all")));
    IS(AdsDDFindFirstObject(dictionary, ADS_DD_ARTICLE_OBJECT, TEXT("all"), text, &length, &search), AE_INVALID_OBJECT_NAME);
}

static void notes(void)
{
    ADSHANDLE table = 0;
    UNSIGNED16 number = 7;

    OK(AdsDDSetDatabaseProperty(dictionary, ADS_DD_VERSION_MAJOR, &number, 2));
    number = 0;
    OK(AdsDDSetDatabaseProperty(dictionary, ADS_DD_VERSION_MINOR, &number, 2));
    OK(AdsDDSetDatabaseProperty(dictionary, ADS_DD_USER_DEFINED_PROP, "a\0b", 3));
    OK(AdsDDSetTableProperty(dictionary, TEXT("orders"), ADS_DD_USER_DEFINED_PROP, "of the table", 12, ADS_NO_VALIDATE, NULL));
    OK(AdsDDSetFieldProperty(dictionary, TEXT("orders"), TEXT("ID"), ADS_DD_USER_DEFINED_PROP, "of ID", 5, ADS_NO_VALIDATE, NULL));
    OK(AdsDDCreateUser(dictionary, NULL, TEXT("anna"), NULL, NULL));
    OK(AdsDDSetUserProperty(dictionary, TEXT("anna"), ADS_DD_USER_DEFINED_PROP, "of anna", 7));
    OK(AdsDisconnect(dictionary));

    OK(AdsConnect60(TEXT("shop.add"), ADS_LOCAL_SERVER, TEXT("adssys"), NULL, ADS_DEFAULT, &dictionary));
    length = 2;
    OK(AdsDDGetDatabaseProperty(dictionary, ADS_DD_VERSION_MAJOR, &number, &length));
    IS(number, 7);
    OK(AdsDDGetDatabaseProperty(dictionary, ADS_DD_VERSION_MINOR, &number, &length));
    IS(number, 0);
    length = sizeof text;
    OK(AdsDDGetDatabaseProperty(dictionary, ADS_DD_USER_DEFINED_PROP, text, &length));
    IS(length, 3);
    IS(text[2], 'b');
    length = sizeof text;
    OK(AdsDDGetTableProperty(dictionary, TEXT("orders"), ADS_DD_USER_DEFINED_PROP, text, &length));
    IS(length, 12);
    length = 3;
    IS(AdsDDGetTableProperty(dictionary, TEXT("orders"), ADS_DD_USER_DEFINED_PROP, text, &length), AE_INSUFFICIENT_BUFFER);
    IS(length, 12);
    length = sizeof text;
    OK(AdsDDGetFieldProperty(dictionary, TEXT("orders"), TEXT("ID"), ADS_DD_USER_DEFINED_PROP, text, &length));
    IS(length, 5);
    length = sizeof text;
    OK(AdsDDGetUserProperty(dictionary, TEXT("anna"), ADS_DD_USER_DEFINED_PROP, text, &length));
    IS(length, 7);

    /* They are no rules: the table takes changes. */
    OK(AdsOpenTable(dictionary, TEXT("orders"), NULL, ADS_DEFAULT, ADS_ANSI, ADS_COMPATIBLE_LOCKING, ADS_IGNORERIGHTS, ADS_SHARED,
                    &table));
    OK(AdsAppendRecord(table));
    OK(AdsSetLong(table, TEXT("ID"), 1));
    OK(AdsWriteRecord(table));
    OK(AdsCloseTable(table));

    OK(AdsDDSetTableProperty(dictionary, TEXT("orders"), ADS_DD_USER_DEFINED_PROP, NULL, 0, ADS_NO_VALIDATE, NULL));
    length = sizeof text;
    IS(AdsDDGetTableProperty(dictionary, TEXT("orders"), ADS_DD_USER_DEFINED_PROP, text, &length), AE_PROPERTY_NOT_SET);
}

int main(int argc, char **argv)
{
    if (argc != 2 || chdir(argv[1]) != 0)
        return 2;
    tables();
    publications();
    subscriptions();
    listed();
    notes();
    OK(AdsDisconnect(dictionary));
    OK(AdsApplicationExit());
    return failures != 0;
}
