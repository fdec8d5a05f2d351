import {formatJson, type Json} from '../../format/json.js';
import {formatYaml} from '../../format/yaml.js';

/** Formats objects as a manifest: YAML documents, or in JSON the only object or a List. */
export function formatManifests(objects: readonly object[], format: 'yaml' | 'json'): string {
  // Objects of the Pod API consist of JSON values.
  const values = objects as readonly unknown[] as readonly Json[];
  if (format === 'yaml') return values.map(formatYaml).join('---\n').trimEnd();
  const [only, ...others] = values;
  const list: Json = {apiVersion: 'v1', kind: 'List', items: values};
  return formatJson(others.length === 0 && only !== undefined ? only : list);
}
