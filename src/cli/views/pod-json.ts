import type {Pod} from '../../api/v1.js';
import {jsonLine, type Json, type JsonObject} from '../../format/json.js';
import {sortedText, type ObjectForm} from '../formats.js';

/** The Pod as an API server would send it. */
function podJson(pod: Pod): JsonObject {
  return JSON.parse(JSON.stringify({...pod, apiVersion: 'v1', kind: 'Pod'})) as JsonObject;
}

/** One Pod, or a List of them as kubectl prints it; without the line end behind it. */
export async function podsText(form: ObjectForm, pods: readonly Pod[], single: boolean): Promise<string> {
  return await objectsText(form, pods.map(podJson), single);
}

/** The same of any objects. */
export async function objectsText(
  form: ObjectForm,
  items: readonly JsonObject[],
  single: boolean,
): Promise<string> {
  const [first] = items;
  const json: Json =
    single && first !== undefined
      ? first
      : {apiVersion: 'v1', items, kind: 'List', metadata: {resourceVersion: ''}};
  return (await sortedText(form, json)).replace(/\n$/, '');
}

/** One Pod of many that follow each other, line end included: JSON on a line of its own, YAML as a document. */
export async function podDocument(form: ObjectForm, pod: Pod): Promise<string> {
  return await objectDocument(form, podJson(pod));
}

/** The same of any object. */
export async function objectDocument(form: ObjectForm, object: JsonObject): Promise<string> {
  if (form.kind === 'json') return `${jsonLine(object)}\n`;
  const text = `${await objectsText(form, [object], true)}\n`;
  return form.kind === 'yaml' ? `---\n${text}` : text;
}

/** The Pods by what the path gives of each, numbers by their value. Throws TemplateError. */
export async function sortPods(pods: readonly Pod[], path: string | undefined): Promise<readonly Pod[]> {
  if (path === undefined) return pods;
  const {compileJsonPath} = await import('../../format/jsonpath/compile.js');
  const valueOf = compileJsonPath(path);
  return pods
    .map((pod) => ({pod, key: valueOf(podJson(pod))}))
    .toSorted((a, b) => a.key.localeCompare(b.key, 'en', {numeric: true}))
    .map(({pod}) => pod);
}
