import {toJson, type Init, type MessageTypes} from '../cri/index.js';
import {withoutNulls} from '../format/json.js';
import {messageText, type ObjectForm} from './formats.js';

/**
 * One message of many that follow each other, line end included: JSON on a line of its own, YAML as a document
 * of its own, and what a template makes of it.
 */
export async function documentText<Name extends keyof MessageTypes>(
  form: ObjectForm,
  name: Name,
  message: Init<MessageTypes[Name]>,
): Promise<string> {
  if (form.kind === 'json')
    return `${JSON.stringify(withoutNulls(toJson(name, message, {emitDefaults: true})))}\n`;
  const text = await messageText(form, name, message);
  return form.kind === 'yaml' ? `---\n${text}` : `${text}\n`;
}
