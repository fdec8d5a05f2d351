import {isIP} from 'node:net';
import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {BaseCommand} from '../cli/command/base-command.js';
import {ArgumentsError} from '../cli/parsing/usage-errors.js';
import {withContext} from '../operations/with-context.js';

export default class UpdateRuntimeConfig extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = "Set the runtime's pod CIDR";
  static override description =
    'A kubelet does this when the cluster assigns a pod CIDR to its node. containerd generates a CNI ' +
    'configuration from it, if its configuration contains a template.';
  static override usage = 'update-runtime-config --pod-cidr=CIDR';
  static override examples = [
    '<%= config.bin %> update-runtime-config --pod-cidr=10.244.0.0/24',
    '<%= config.bin %> update-runtime-config -p 10.244.0.0/24,fd00:10:244::/64',
  ];
  static override flags = {
    'pod-cidr': Flags.string({
      char: 'p',
      helpValue: 'CIDR',
      description: 'Pod CIDR, or one per IP family separated by a comma.',
    }),
  };

  async run(): Promise<void> {
    const {flags} = await this.parse(UpdateRuntimeConfig);
    const podCidr = flags['pod-cidr'];
    if (podCidr === undefined)
      throw new ArgumentsError('nothing to update', {hint: 'set the range of addresses with --pod-cidr'});
    this.dialect.checkUsage(() => {
      checkRanges(podCidr);
    });
    const {runtime} = await this.cri();
    const request = {runtimeConfig: {networkConfig: {podCidr}}};
    await withContext('update runtime config', runtime.updateRuntimeConfig(request, {signal: this.signal}));
    this.report.info('Runtime config successfully updated');
  }
}

/** Throws UsageError for an invalid range. An empty range makes the runtime remove it. */
function checkRanges(ranges: string): void {
  const wrong = ranges.split(',').find((range) => ranges !== '' && !isRange(range));
  if (wrong !== undefined)
    throw new UsageError(`invalid --pod-cidr "${wrong}"`, {
      hint: 'must be a CIDR such as 10.244.0.0/24 or fd00:10:244::/64',
    });
}

function isRange(range: string): boolean {
  const [, address = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(range) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(bits) <= (family === 4 ? 32 : 128);
}
