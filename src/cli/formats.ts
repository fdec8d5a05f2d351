import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {toJson, type Init, type MessageTypes} from '../cri/index.js';
import {jsonText, withoutNulls, type Json} from '../format/json.js';

/** The forms in which data is printed, besides templates. */
export type Format = 'table' | 'wide' | 'json' | 'yaml';

/** A form that was chosen: one of a command's own, or a template that prints any object. */
export type Form<F extends Format> =
  Kind<F> | {readonly kind: 'template'; readonly render: (json: Json) => string};

/** One member a form, so that a comparison tells them apart. */
type Kind<F extends Format> = F extends Format ? {readonly kind: F} : never;

/** A form that prints any object. */
export type ObjectForm = Form<'json' | 'yaml'>;

/** `-o`: crictl's forms. */
export function outputFlag(formats: readonly Format[]) {
  return Flags.string({
    char: 'o',
    helpValue: formats.join('|'),
    description: `Output format. [default: ${formats[0] ?? ''}]`,
  });
}

/** `--template`, which crictl uses with `-o go-template`. */
export const templateFlag = Flags.string({hidden: true, description: 'Go template to print with.'});

/**
 * The form that `-o` names, the first one by default. Throws UsageError in crictl's words for any other, and
 * for templates, which kcri does not have yet.
 */
export async function formOf<F extends Format>(
  flags: {readonly output?: string | undefined; readonly template?: string | undefined},
  formats: readonly F[],
): Promise<Form<F>> {
  const {output = formats[0], template} = flags;
  if (output === 'go-template' || template !== undefined)
    throw new UsageError('go-template output is not built into kcri yet', {
      hint: 'use -o json with jq instead',
    });
  const kind = formats.find((known) => known === output);
  if (kind !== undefined) return await Promise.resolve({kind} as Form<F>);
  throw new UsageError(`unsupported output format "${output ?? ''}"`, {hint: `one of ${formats.join(', ')}`});
}

/** A list as crictl prints it: proto JSON with all defaults in the order of the .proto, or that as YAML. */
export async function messageText<Name extends keyof MessageTypes>(
  form: ObjectForm,
  name: Name,
  message: Init<MessageTypes[Name]>,
): Promise<string> {
  const json = withoutNulls(toJson(name, message, {emitDefaults: true}));
  return form.kind === 'json' ? jsonText(json) : await otherText(form, json);
}

/** What crictl prints with sorted keys: an inspected object, or the list of them. */
export async function sortedText(form: ObjectForm, json: Json): Promise<string> {
  return form.kind === 'json' ? jsonText(json, {sortKeys: true}) : await otherText(form, json);
}

async function otherText(form: Exclude<ObjectForm, {kind: 'json'}>, json: Json): Promise<string> {
  if (form.kind === 'template') return form.render(json);
  const {yamlText} = await import('../format/yaml.js');
  return await yamlText(json);
}
