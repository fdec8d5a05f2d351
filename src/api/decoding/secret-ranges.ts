import type {ManifestNode, MapNode} from './manifest-node.js';
import type {TextRange} from './source-text.js';
import type {YamlDocument} from './parse-yaml.js';

/**
 * Returns the ranges of a text that error messages must not show: Secrets, including malformed ones that are not
 * otherwise recognized.
 */
export function findSecretRanges(documents: readonly YamlDocument[], text: string): readonly TextRange[] {
  const unread = documents.some(({root, problems}) => root === undefined && problems.length > 0);
  if (unread) return inUnreadText(text);
  return documents.flatMap(({root}) => (root === undefined ? [] : inNode(root)));
}

/** Signs of a Secret in a text that cannot be parsed; a Pod that refers to Secrets, as in `secretName`, has none. */
const SECRET_SIGNS =
  /\bSecret(?:List)?\b|\bstringData\b|\bkind\W{0,5}[sS][eE][cC][rR][eE][tT]|\btype\W{0,5}(?:Opaque|kubernetes\.io\/)/;
const COMMENT_LINES = /^[ \t]*#.*$/gm;

/** Returns the ranges of the documents that look like Secrets, which `---` separates whatever they contain. */
function inUnreadText(text: string): readonly TextRange[] {
  const starts = [0, ...[...text.matchAll(/^---/gm)].map(({index}) => index)];
  return starts.flatMap((start, index) => {
    const end = starts[index + 1] ?? text.length;
    return SECRET_SIGNS.test(text.slice(start, end).replace(COMMENT_LINES, '')) ? [{start, end}] : [];
  });
}

function inNode(node: ManifestNode): readonly TextRange[] {
  if (node.kind !== 'map') return [];
  if (isSecret(node)) return [{start: node.offset, end: node.end}];
  const items = node.entries.get('items')?.value;
  return items?.kind === 'list' ? items.items.flatMap(inNode) : [];
}

function isSecret({entries}: MapNode): boolean {
  const kind = entries.get('kind')?.value;
  return (
    entries.has('stringData') || (kind?.kind === 'scalar' && /^secret(list)?$/i.test(String(kind.value)))
  );
}
