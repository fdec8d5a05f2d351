import {UsageError} from '../../base/errors.js';
import {goQuote} from '../../format/go-quote.js';
import {TemplateError} from '../../format/template-error.js';
import type {
  OutputFormat,
  OutputFormatName,
  OutputFlagValues,
  TemplateFormat,
} from '../output/output-format.js';
import {ArgumentsError} from '../parsing/usage-errors.js';

/** Output options of a crictl command. */
interface CrictlOutput {
  /** Returns the error for an unsupported format. If absent, the command shows a table. */
  readonly refusal?: (quoted: string) => string;
  /** True if the command shows its help for an unsupported format. */
  readonly showsHelp?: true;
  /** True if `-o ""` selects JSON. */
  readonly defaultsToJson?: true;
  /** True if the command checks the format and the template after it has called the runtime. */
  readonly checksLast?: true;
  /** Prefix of template errors; absent if the command does not support templates. */
  readonly template?: string;
}

const unsupported = (context: string): CrictlOutput => ({
  refusal: (quoted) => `${context}unsupported output format ${quoted}`,
});
const inspecting = (context: string): CrictlOutput => ({
  refusal: (quoted) => `${context}unsupported format: ${quoted}`,
  template: `${context}execute template: `,
});

const OUTPUTS: Readonly<Record<string, CrictlOutput>> = {
  events: {refusal: (quoted) => `don't support ${quoted} format`, template: ''},
  imagefsinfo: {...inspecting(''), defaultsToJson: true, checksLast: true},
  images: {},
  info: {...inspecting('getting status of runtime: '), checksLast: true},
  inspect: {...inspecting('get the status of containers: '), defaultsToJson: true},
  inspecti: {...inspecting(''), defaultsToJson: true},
  inspectp: {...inspecting('get the status of pod sandboxes: '), defaultsToJson: true},
  metricdescs: {showsHelp: true, defaultsToJson: true},
  metricsp: {showsHelp: true, defaultsToJson: true},
  pods: unsupported('listing pod sandboxes: '),
  ps: unsupported('listing containers: '),
  stats: {},
  statsp: {},
};

/** Returns which of the formats that kcri's help of a command lists are also crictl's. */
export function listCrictlFormats(command: string, formats: readonly string[]): readonly string[] {
  const hasTemplates = OUTPUTS[command]?.template !== undefined;
  const plain = formats.filter((format) => isCrictlFormat(format) && !format.includes('='));
  return [...plain, ...(hasTemplates ? ['go-template'] : [])];
}

const isCrictlFormat = (format: string): boolean => format !== 'wide' && format !== 'name';

/** Name that crictl gives its templates. */
const TEMPLATE_NAME = 'tmplExecuteRawJSON';

/**
 * Returns the output format that crictl would use. Rejects with KcriError with crictl's message, unless the format is to
 * throw it when it renders.
 */
export async function parseCrictlOutputFormat<F extends OutputFormatName>(
  command: string,
  flags: OutputFlagValues,
  formats: readonly F[],
): Promise<OutputFormat<F>> {
  try {
    return await parsedFormat(command, flags, formats);
  } catch (error) {
    if (OUTPUTS[command]?.checksLast !== true) throw error;
    const render = (): never => {
      throw error;
    };
    return {kind: 'template', encodesLikeGo: true, render};
  }
}

async function parsedFormat<F extends OutputFormatName>(
  command: string,
  {output: given, template = ''}: OutputFlagValues,
  formats: readonly F[],
): Promise<OutputFormat<F>> {
  const crictl = OUTPUTS[command] ?? unsupported('');
  const isDefault = given === undefined || (given === '' && crictl.defaultsToJson === true);
  const output = isDefault ? (formats[0] ?? '') : given;
  if (output === 'go-template' && crictl.template !== undefined)
    return await crictlTemplate(command, template, crictl.template);
  if (command === 'events' && template !== '' && /^(json|yaml)$/.test(output))
    throw new UsageError(`template can't be used with ${goQuote(output)} format`);
  return {kind: knownKind(output, formats, crictl), encodesLikeGo: true} as OutputFormat<F>;
}

function knownKind(
  output: string,
  formats: readonly OutputFormatName[],
  {refusal, showsHelp}: CrictlOutput,
): OutputFormatName {
  const kind = formats.find((known) => known === output && isCrictlFormat(known));
  if (kind === undefined && showsHelp === true)
    throw new ArgumentsError(`unsupported output format "${output}"`);
  if (kind === undefined && refusal !== undefined) throw new UsageError(refusal(goQuote(output)));
  return kind ?? 'table';
}

async function crictlTemplate(command: string, text: string, context: string): Promise<TemplateFormat> {
  const {compileGoTemplate} = await import('../../format/go-template/compile.js');
  // Before it starts, events also parses its template without a name.
  if (command === 'events') inContext('failed to parse go-template: ', () => compileGoTemplate(text, ''));
  const generating = `${context}failed to generate go-template: `;
  const render = inContext(generating, () => compileGoTemplate(text, TEMPLATE_NAME));
  return {
    kind: 'template',
    encodesLikeGo: true,
    render: (json) => inContext(`${context}failed to template data: `, () => render(json)),
  };
}

function inContext<T>(context: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new TemplateError(context + error.message, {cause: error});
  }
}
