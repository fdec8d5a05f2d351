import type {ManifestNode, MapNode} from './manifest-node.js';
import type {TextRange} from './source-text.js';
import type {YamlDocument} from './parse-yaml.js';

/**
 * Returns the ranges of a text that error messages must not show: Secrets, including malformed ones that are not
 * otherwise recognized.
 */
export function findSecretRanges(documents: readonly YamlDocument[], text: string): readonly TextRange[] {
  // A text that cannot be parsed is one range.
  const unread = documents.some(({root, problems}) => root === undefined && problems.length > 0);
  if (unread && /secret|stringData/i.test(text)) return [{start: 0, end: text.length}];
  return documents.flatMap(({root}) => (root === undefined ? [] : inNode(root)));
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
