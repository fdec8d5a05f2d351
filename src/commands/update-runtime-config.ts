import {isIP} from 'node:net';
import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {BaseCommand} from '../cli/base-command.js';
import {ArgumentsError} from '../cli/usage-errors.js';
import {withContext} from '../operations/with-context.js';

export default class UpdateRuntimeConfig extends BaseCommand {
  static override summary = 'Tell the runtime which addresses its pods get';
  static override description =
    'What a kubelet does once the cluster has given its node a range of addresses. containerd makes a network ' +
    'configuration of it, if its own configuration has a template for one.';
  static override usage = 'update-runtime-config --pod-cidr RANGE';
  static override examples = [
    '<%= config.bin %> update-runtime-config --pod-cidr 10.244.0.0/24',
    '<%= config.bin %> update-runtime-config -p 10.244.0.0/24,fd00:10:244::/64',
  ];
  static override flags = {
    'pod-cidr': Flags.string({
      char: 'p',
      helpValue: 'RANGE',
      description: "The range of pods' addresses, or one of each family with a comma between.",
    }),
  };

  async run(): Promise<void> {
    const {flags} = await this.parse(UpdateRuntimeConfig);
    const podCidr = flags['pod-cidr'];
    if (podCidr === undefined)
      throw new ArgumentsError('nothing to update', {hint: 'give the range of addresses with --pod-cidr'});
    if (!this.compat) checkRanges(podCidr);
    const {runtime} = await this.cri();
    const request = {runtimeConfig: {networkConfig: {podCidr}}};
    await withContext('update runtime config', runtime.updateRuntimeConfig(request, {signal: this.signal}));
    this.note('Runtime config successfully updated');
  }
}

/** An empty range is one that the runtime is to leave out. Throws UsageError. */
function checkRanges(ranges: string): void {
  const wrong = ranges.split(',').find((range) => ranges !== '' && !isRange(range));
  if (wrong !== undefined)
    throw new UsageError(`"${wrong}" is no range of addresses`, {
      hint: 'write one as 10.244.0.0/24 or fd00:10:244::/64',
    });
}

function isRange(range: string): boolean {
  const [, address = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(range) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(bits) <= (family === 4 ? 32 : 128);
}
