import {BaseCommand} from '../cli/command/base-command.js';
import {kcriOnlyFlags} from '../cli/flags/flag-types.js';
import {
  formatMessage,
  NO_HEADERS_FLAG,
  outputFlags,
  parseOutputFormat,
} from '../cli/output/parse-output-format.js';
import {withContext} from '../operations/with-context.js';
import type {VersionResponse} from '../cri/index.js';

const FORMATS = ['table', 'json', 'yaml'] as const;

export default class Version extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'Show the versions of the runtime and its CRI API';
  static override description = 'For the version of kcri itself, use "kcri --version".';
  static override usage = 'version [FLAGS]';
  static override examples = [
    '<%= config.bin %> version',
    '<%= config.bin %> -r unix:///run/crio/crio.sock version',
    "<%= config.bin %> version --format '{{.runtimeVersion}}'",
  ];
  static override flags = {...kcriOnlyFlags(outputFlags(FORMATS)), ...NO_HEADERS_FLAG};

  async run(): Promise<void> {
    const {flags} = await this.parse(Version);
    const form = await parseOutputFormat(flags, FORMATS, this.services);
    const {runtime} = await this.cri();
    const call = runtime.version({version: 'v1'}, {signal: this.signal});
    const response = await withContext('getting the runtime version', call);
    if (form.kind === 'table') this.out.printText(`${versionText(response)}\n`);
    else this.out.printData(await formatMessage(form, 'VersionResponse', response));
  }
}

/** Formats the four lines of `version`, with two spaces after the colon as in crictl. */
function versionText(response: VersionResponse): string {
  return [
    `Version:  ${response.version}`,
    `RuntimeName:  ${response.runtimeName}`,
    `RuntimeVersion:  ${response.runtimeVersion}`,
    `RuntimeApiVersion:  ${response.runtimeApiVersion}`,
  ].join('\n');
}
