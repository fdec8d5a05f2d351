import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {toJson, type Init, type MessageTypes} from '../cri/index.js';
import {jsonText, withoutNulls, type Json} from '../format/json.js';

/** The forms in which data is printed. */
export type Format = 'table' | 'json' | 'yaml';

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
export function formatOf<F extends Format>(
  flags: {readonly output?: string | undefined; readonly template?: string | undefined},
  formats: readonly F[],
): F {
  const {output = formats[0], template} = flags;
  if (output === 'go-template' || template !== undefined)
    throw new UsageError('go-template output is not built into kcri yet', {
      hint: 'use -o json with jq instead',
    });
  const format = formats.find((known) => known === output);
  if (format !== undefined) return format;
  throw new UsageError(`unsupported output format "${output ?? ''}"`, {hint: `one of ${formats.join(', ')}`});
}

/** A list as crictl prints it: proto JSON with all defaults in the order of the .proto, or that as YAML. */
export async function messageText<Name extends keyof MessageTypes>(
  format: Exclude<Format, 'table'>,
  name: Name,
  message: Init<MessageTypes[Name]>,
): Promise<string> {
  const json = withoutNulls(toJson(name, message, {emitDefaults: true}));
  return format === 'json' ? jsonText(json) : await yaml(json);
}

/** What crictl prints with sorted keys: an inspected object, or the list of them. */
export async function sortedText(format: Exclude<Format, 'table'>, json: Json): Promise<string> {
  return format === 'json' ? jsonText(json, {sortKeys: true}) : await yaml(json);
}

async function yaml(json: Json): Promise<string> {
  const {yamlText} = await import('../format/yaml.js');
  return await yamlText(json);
}
