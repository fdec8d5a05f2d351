import {encodePod} from '../../api/json/encode-pod.js';
import type {Pod} from '../../api/types/v1-pod.js';
import {formatCompactJson, type Json, type JsonObject} from '../../format/json.js';
import {formatSorted, type ObjectFormat} from '../../cli/output/parse-output-format.js';

/** Returns the Pod as an API server would send it. */
export function podJson(pod: Pod): JsonObject {
  return JSON.parse(JSON.stringify({...encodePod(pod), apiVersion: 'v1', kind: 'Pod'})) as JsonObject;
}

/** Formats one Pod, or several as a List like kubectl. */
export async function formatPods(form: ObjectFormat, pods: readonly Pod[], single: boolean): Promise<string> {
  return await formatObjects(form, pods.map(podJson), single);
}

/** Formats one object, or several as a List, with the final line break. */
export async function formatObjects(
  form: ObjectFormat,
  items: readonly JsonObject[],
  single: boolean,
): Promise<string> {
  if (form.kind === 'rows') return form.render(items);
  const [first] = items;
  const json: Json =
    single && first !== undefined
      ? first
      : {apiVersion: 'v1', items, kind: 'List', metadata: {resourceVersion: ''}};
  return (await formatSorted(form, json)).replace(/\n\n$/, '\n');
}

/** Formats one Pod of a stream: a line of JSON, or a YAML document. */
export async function formatPodDocument(form: ObjectFormat, pod: Pod): Promise<string> {
  return await formatObjectDocument(form, podJson(pod));
}

/** Formats one object of a stream. */
export async function formatObjectDocument(form: ObjectFormat, object: JsonObject): Promise<string> {
  if (form.kind === 'json') return `${formatCompactJson(object)}\n`;
  const text = await formatObjects(form, [object], true);
  return form.kind === 'yaml' ? `---\n${text}` : text;
}

/** Sorts Pods by the value of a JSONPath, numbers numerically. Throws TemplateError. */
export async function sortPods(pods: readonly Pod[], path: string | undefined): Promise<readonly Pod[]> {
  return await sortByPath(pods, podJson, path);
}

/** Sorts items by the value of a JSONPath in their objects, numbers numerically; not without a path. Throws TemplateError. */
export async function sortByPath<T>(
  items: readonly T[],
  toObject: (item: T) => JsonObject,
  path: string | undefined,
): Promise<readonly T[]> {
  if (path === undefined) return items;
  const {compileJsonPath} = await import('../../format/jsonpath/compile.js');
  const valueOf = compileJsonPath(path);
  return items
    .map((item) => ({item, key: valueOf(toObject(item))}))
    .toSorted((a, b) => a.key.localeCompare(b.key, 'en', {numeric: true}))
    .map(({item}) => item);
}
