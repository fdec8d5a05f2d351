/** Matches scalars without quotes that go-yaml 3 does not read as strings. */
const NOT_A_STRING =
  /^(?:|~|null|Null|NULL|true|True|TRUE|false|False|FALSE|<<|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)|[-+]?(?:0[bB][01_]+|0[xX][\da-fA-F_]+|0[oO]?[0-7_]+|(?:\.\d|\d)[\d_]*(?:\.[\d_]*)?(?:[eE][-+]?\d+)?)|\d{4}-\d{1,2}-\d{1,2}(?:[Tt ].*)?)$/;
/** Matches characters that need an escape. */
const SPECIAL = /[^\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/u;
/** Matches what a scalar without quotes must not have: indicators, and spaces at its ends. */
const INDICATORS = /^(?:---|\.\.\.)|^[#,[\]{}&*!|>'"%@`]|^[-?:](?:[ \t]|$)|^[ \t\n]|[ \t\n]$|: |:$|[ \t]#|\n/;
const FLOW_INDICATORS = /[,?[\]{}:]/;

/** Returns how go-yaml 3 writes a string, as a type of scalars of the library `yaml`. */
export function crictlScalarStyle(
  text: string,
  isInFlow: boolean,
): 'PLAIN' | 'QUOTE_DOUBLE' | 'QUOTE_SINGLE' {
  if (NOT_A_STRING.test(text) || SPECIAL.test(text)) return 'QUOTE_DOUBLE';
  return INDICATORS.test(text) || (isInFlow && FLOW_INDICATORS.test(text)) ? 'QUOTE_SINGLE' : 'PLAIN';
}
