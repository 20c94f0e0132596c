//! Columns of one name in the right part of EXCEPT and INTERSECT.
//!
//! The engine joins the parts by the names of their columns, so that two columns of one name, as in
//! `… EXCEPT SELECT a.id, b.id FROM a, b`, are ambiguous. The result has the names of the left part, and those of the right part are free.

use sqlparser::ast::{Expr, Ident, SelectItem, SetExpr, SetOperator};

/// Names repeated columns apart.
pub(super) fn put(body: &mut SetExpr) {
    if let SetExpr::SetOperation { op, left, right, .. } = body {
        put(left);
        put(right);
        if *op != SetOperator::Union {
            name_apart(right);
        }
    }
}

fn name_apart(body: &mut SetExpr) {
    match body {
        SetExpr::Select(select) => {
            let mut taken: Vec<String> = Vec::new();
            for (place, item) in select.projection.iter_mut().enumerate() {
                let name = match item {
                    SelectItem::ExprWithAlias { alias, .. } => &alias.value,
                    SelectItem::UnnamedExpr(Expr::Identifier(name)) => &name.value,
                    SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => match parts.last() {
                        Some(name) => &name.value,
                        None => continue,
                    },
                    _ => continue,
                };
                let name = name.to_lowercase();
                if taken.contains(&name)
                    && let SelectItem::UnnamedExpr(expr) = item
                {
                    *item = SelectItem::ExprWithAlias {
                        expr: expr.clone(),
                        alias: Ident::with_quote('"', format!("column {}", place + 1)),
                    };
                }
                taken.push(name);
            }
        }
        SetExpr::Query(query) if query.order_by.is_none() => name_apart(&mut query.body),
        SetExpr::SetOperation { left, .. } => name_apart(left),
        _ => {}
    }
}
