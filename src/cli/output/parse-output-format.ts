import * as Flags from '@oclif/core/flags';
import {kcriOnlyFlags, nonEmptyFlags, withChoices} from '../flags/flag-types.js';
import {findClosestMatch} from '../../base/closest-match.js';
import {UsageError} from '../../base/errors.js';
import type {Init, MessageTypes} from '../../cri/index.js';
import {isObject} from '../../base/is-object.js';
import {toFloat64Numbers, formatJson, isJsonList, omitNulls, type Json} from '../../format/json.js';
import type {
  ObjectFormat,
  OutputFlagValues,
  OutputFormat,
  OutputFormatName,
  OutputFormatParser,
} from './output-format.js';

export type {OutputFormat, OutputFormatName, ObjectFormat} from './output-format.js';

const TEMPLATE_FORMATS = ['go-template=TEMPLATE', 'jsonpath=TEMPLATE', 'custom-columns=SPEC'];

/** Returns the output flags of a command with these formats; `byDefault` describes the default. */
export function outputFlags(formats: readonly OutputFormatName[], byDefault?: string) {
  return {
    output: outputFlag(formats, byDefault),
    template: templateFlag,
    ...kcriOnlyFlags(
      nonEmptyFlags({
        format: Flags.string({
          helpValue: 'TEMPLATE',
          description:
            'Go template for each row, as in docker; "table TEMPLATE" adds headers, "json" is JSON per row.',
        }),
      }),
    ),
  };
}

/** Flag `--no-headers` of commands whose tables crictl has without it. */
export const NO_HEADERS_FLAG = kcriOnlyFlags({
  'no-headers': Flags.boolean({description: 'Omit the column headers.'}),
});

function outputFlag(formats: readonly OutputFormatName[], byDefault: string = formats[0] ?? '') {
  return withChoices(
    Flags.string({char: 'o', helpValue: 'FORMAT', description: `Output format. [default: ${byDefault}]`}),
    [...formats, ...TEMPLATE_FORMATS],
  );
}

/** Flag `--template`; crictl requires `-o go-template` with it. */
const templateFlag = Flags.string({
  helpValue: 'TEMPLATE',
  description: 'Go template for the output; implies -o go-template.',
});

/** Command that prints in an output format. */
interface Caller {
  readonly name: string;
  readonly dialect: {readonly parseOutputFormat?: OutputFormatParser};
  /** Receives warnings about flags that have no effect. */
  readonly report: {warn(text: string): void};
}

/**
 * Parses `-o` and `--template`; the first of `formats` is the default. Templates are compiled here, before any call to
 * the runtime. Rejects with UsageError for an unknown format, and with TemplateError.
 */
export async function parseOutputFormat<F extends OutputFormatName>(
  flags: OutputFlagValues,
  formats: readonly F[],
  caller?: Caller,
): Promise<OutputFormat<F>> {
  if (caller?.dialect.parseOutputFormat !== undefined)
    return await caller.dialect.parseOutputFormat(caller.name, flags, formats);
  const {output, template, format} = flags;
  const byDefault = template === undefined ? formats[0] : undefined;
  const kind = formats.find((known) => known === (output ?? byDefault));
  if (kind !== undefined && format === undefined) {
    if (template !== undefined) caller?.report.warn(`--template has no effect with -o ${kind}`);
    return {kind} as OutputFormat<F>;
  }
  const {parseTemplateFormat} = await import('./parse-template.js');
  return (await parseTemplateFormat(flags, formats)) ?? rejectFormat(output ?? formats[0] ?? '', formats);
}

function rejectFormat(output: string, formats: readonly OutputFormatName[]): never {
  const known = [...formats, ...TEMPLATE_FORMATS];
  const guess = findClosestMatch(output, formats);
  throw new UsageError(`unsupported output format "${output}"`, {
    hint: `${guess === undefined ? '' : `did you mean "${guess}"? `}must be one of ${known.join(', ')}`,
  });
}

/** Returns the node of an object of a list over several nodes; undefined if there is only one. */
export type NodeOf = (object: object) => string | undefined;

/** Returns the JSON of a message with the field `node` in each object of its lists whose node is known. */
export function withNodes(json: Json, message: object, nodeOf: NodeOf | undefined): Json {
  if (nodeOf === undefined || !isObject(json)) return json;
  const lists = new Map<string, unknown>(Object.entries(message));
  const entries = Object.entries(json).map(([key, value]) => {
    const objects = lists.get(key);
    if (!Array.isArray(value) || !Array.isArray(objects)) return [key, value];
    return [key, value.map((item, index) => withNode(item as Json, nodeOf(objects[index] as object)))];
  });
  return Object.fromEntries(entries) as Json;
}

const withNode = (item: Json, node: string | undefined): Json =>
  node === undefined || !isObject(item) ? item : {node, ...item};

/**
 * Formats a message as crictl prints lists, with the final line break: proto JSON with defaults, in the field order of
 * the .proto file.
 */
export async function formatMessage<Name extends keyof MessageTypes>(
  form: ObjectFormat,
  name: Name,
  message: Init<MessageTypes[Name]>,
  nodeOf?: NodeOf,
): Promise<string> {
  const {toJson} = await import('../../cri/index.js');
  const json = withNodes(omitNulls(toJson(name, message, {emitDefaults: true})), message, nodeOf);
  return form.kind === 'json' ? `${formatJson(json)}\n` : await formatYamlOrTemplate(form, json);
}

/**
 * Formats one or several inspected objects with sorted keys, like Go's encoder if the format says so, with the final
 * line break.
 */
export async function formatSorted(form: ObjectFormat, json: Json): Promise<string> {
  const {encodesLikeGo = false} = form;
  const data = encodesLikeGo ? toFloat64Numbers(json) : json;
  return form.kind === 'json'
    ? `${formatJson(data, {sortKeys: true, escapeHtml: encodesLikeGo})}\n`
    : await formatYamlOrTemplate(form, data);
}

/** Formats data as YAML, with a template or as rows, with the final line break. */
async function formatYamlOrTemplate(
  form: Exclude<ObjectFormat, {kind: 'json'}>,
  json: Json,
): Promise<string> {
  if (form.kind === 'rows') return form.render(rowsOf(json));
  if (form.kind === 'template') return `${form.render(json)}\n`;
  const {formatYaml} = await import('../../format/yaml.js');
  return `${formatYaml(json)}\n`;
}

/** Returns the items of a list, or of a response that has only a list; otherwise the object is the only row. */
function rowsOf(json: Json): readonly Json[] {
  if (typeof json !== 'object' || json === null) return [json];
  if (isJsonList(json)) return json;
  const [only, ...others] = Object.values(json);
  const isList = typeof only === 'object' && only !== null && isJsonList(only) && others.length === 0;
  return isList ? only : [json];
}
