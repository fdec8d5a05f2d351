import {toJson, type Init, type MessageTypes} from '../../cri/index.js';
import {omitNulls} from '../../format/json.js';
import {formatMessage, withNodes, type NodeOf, type ObjectFormat} from './parse-output-format.js';

/**
 * Formats one message of a stream, including the line end: a line of JSON, a YAML document, or the output of a
 * template.
 */
export async function formatDocument<Name extends keyof MessageTypes>(
  form: ObjectFormat,
  name: Name,
  message: Init<MessageTypes[Name]>,
  nodeOf?: NodeOf,
): Promise<string> {
  if (form.kind === 'json') {
    const json = omitNulls(toJson(name, message, {emitDefaults: true}));
    return `${JSON.stringify(withNodes(json, message, nodeOf))}\n`;
  }
  const text = await formatMessage(form, name, message, nodeOf);
  return form.kind === 'yaml' ? `---\n${text.slice(0, -1)}` : text;
}
