//! `latte::param!("name", default)`: a constant of the script that the command line can set.

use std::collections::HashMap;

use rune::ast;
use rune::compile;
use rune::macros::{MacroContext, TokenStream, quote};
use rune::parse::Parser;
use rune::{ContextError, Module};

pub(super) fn install(latte: &mut Module, parameters: &[(String, String)]) -> Result<(), ContextError> {
    let parameters: HashMap<String, String> = parameters.iter().cloned().collect();
    latte.macro_("param", move |context, tokens| expand(context, &parameters, tokens))?;
    Ok(())
}

fn expand(
    context: &mut MacroContext<'_, '_, '_>,
    parameters: &HashMap<String, String>,
    tokens: &TokenStream,
) -> compile::Result<TokenStream> {
    let mut parser = Parser::from_token_stream(tokens, context.macro_span());
    let name = parser.parse::<ast::LitStr>()?;
    let name = context.resolve(name)?.to_string();
    parser.parse::<ast::Comma>()?;
    let default = parser.parse::<ast::Expr>()?;
    parser.eof()?;
    let Some(given) = parameters.get(name.as_str()) else {
        return Ok(quote!(#default).into_token_stream(context)?);
    };
    let source = context.insert_source(name.as_str(), given)?;
    match context.parse_source::<ast::Expr>(source) {
        // A bare word means itself: shells eat the quotes that Rune wants.
        Err(_) | Ok(ast::Expr::Path(_)) => {
            let text = context.lit(given.as_str())?;
            Ok(quote!(#text).into_token_stream(context)?)
        }
        Ok(value) => Ok(quote!(#value).into_token_stream(context)?),
    }
}
