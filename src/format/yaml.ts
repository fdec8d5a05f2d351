import type {Document} from 'yaml';
import type {Json} from './json.js';

/**
 * The data as YAML in the form of sigs.k8s.io/yaml: keys sorted, lists not indented, no folding, texts that
 * would read as something else in double quotes. Ends with a line end. Loads the YAML library when called.
 */
export async function yamlText(value: Json): Promise<string> {
  const {Document: Yaml, isScalar, Scalar, visit} = await import('yaml');
  const document: Document = new Yaml(value, {sortMapEntries: true, version: '1.1', intAsBigInt: true});
  visit(document, {
    Scalar: (_, node) => {
      if (isScalar(node) && typeof node.value === 'string' && readsAsOther(node.value))
        node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString({indentSeq: false, lineWidth: 0, singleQuote: true, nullStr: 'null'});
}

/** Texts that YAML 1.1 takes for a number, a truth value, a time or nothing. */
function readsAsOther(text: string): boolean {
  return (
    /^(~|null|true|false|yes|no|on|off|y|n|)$/i.test(text) ||
    /^[-+]?[\d.][\d_.,:]*(e[-+]?\d+)?$/i.test(text) ||
    /^\d{4}-\d\d?-\d\d?([Tt ].*)?$/.test(text) ||
    /^[-+]?0[xob][\da-f_]+$/i.test(text)
  );
}
