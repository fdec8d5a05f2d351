import * as Flags from '@oclif/core/flags';
import {closest} from '../base/closest.js';
import {UsageError} from '../base/errors.js';
import type {Init, MessageTypes} from '../cri/index.js';
import {asFloat64, jsonText, withoutNulls, type Json} from '../format/json.js';
import type {Form, Format, FormFlags, ObjectForm} from './form.js';

export type {Form, Format, ObjectForm} from './form.js';

/** `-o`: crictl's forms, and templates. */
export function outputFlag(formats: readonly Format[], byDefault: string = formats[0] ?? '') {
  return Flags.string({
    char: 'o',
    helpValue: [...formats, 'go-template=…', 'jsonpath=…'].join('|'),
    description: `Output format. [default: ${byDefault}]`,
  });
}

/** `--template`, which crictl uses with `-o go-template`. */
export const templateFlag = Flags.string({
  helpValue: 'TEMPLATE',
  description: 'Go template to print with, with or without -o go-template.',
});

/** Who asks for a form: a command, and whether it behaves as crictl. */
interface Caller {
  readonly compat: boolean;
  readonly id?: string | undefined;
  /** Told of what is given and not used. */
  warn?(text: string): unknown;
}

/**
 * The form that `-o` and `--template` name, the first of `formats` by default. A template is read here, before
 * anything is asked of a runtime. Throws UsageError for a form that there is not, and TemplateError.
 */
export async function formOf<F extends Format>(
  flags: FormFlags,
  formats: readonly F[],
  caller: Caller = {compat: false},
): Promise<Form<F>> {
  if (caller.compat) {
    const {crictlForm} = await import('./compat/forms.js');
    return await crictlForm(caller.id ?? '', flags, formats);
  }
  const {output, template} = flags;
  const byDefault = template === undefined ? formats[0] : undefined;
  const kind = formats.find((known) => known === (output ?? byDefault));
  if (kind !== undefined) {
    if (template !== undefined) caller.warn?.(`the template is not used with -o ${kind}`);
    return {kind} as Form<F>;
  }
  const {templateForm} = await import('./templates.js');
  return (await templateForm(flags)) ?? refuse(output ?? formats[0] ?? '', formats);
}

function refuse(output: string, formats: readonly Format[]): never {
  const known = [...formats, 'go-template=TEMPLATE', 'jsonpath=TEMPLATE'];
  const guess = closest(output, formats);
  throw new UsageError(`unsupported output format "${output}"`, {
    hint: `${guess === undefined ? '' : `did you mean ${guess}? `}one of ${known.join(', ')}`,
  });
}

/** A list as crictl prints it: proto JSON with all defaults in the order of the .proto, or that as YAML. */
export async function messageText<Name extends keyof MessageTypes>(
  form: ObjectForm,
  name: Name,
  message: Init<MessageTypes[Name]>,
): Promise<string> {
  const {toJson} = await import('../cri/index.js');
  const json = withoutNulls(toJson(name, message, {emitDefaults: true}));
  return form.kind === 'json' ? jsonText(json) : await otherText(form, json);
}

/**
 * What crictl prints with sorted keys: an inspected object, or the list of them. As crictl it loses the last
 * digits of numbers beyond 2^53, and writes `<`, `>` and `&` by their codes.
 */
export async function sortedText(form: ObjectForm, json: Json): Promise<string> {
  const {compat = false} = form;
  const data = compat ? asFloat64(json) : json;
  return form.kind === 'json'
    ? jsonText(data, {sortKeys: true, escapeHtml: compat})
    : await otherText(form, data);
}

/** YAML, or what a template makes of the data, without the line end that printing adds. */
async function otherText(form: Exclude<ObjectForm, {kind: 'json'}>, json: Json): Promise<string> {
  if (form.kind === 'template') return form.render(json);
  const {yamlText} = await import('../format/yaml.js');
  return yamlText(json);
}
