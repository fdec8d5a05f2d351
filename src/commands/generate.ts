import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {BaseCommand} from '../cli/command/base-command.js';

export default class Generate extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'Write Pod manifests from running pods';
  static override description =
    'Writes the manifest of each pod, whoever created it, for "kcri sync" on this or another node. A ' +
    'pod of kcri has the manifest it was created from. For other pods it is derived from what the ' +
    'runtime knows: images, commands, environment, mounts, ports, resources and security settings. ' +
    'Notes on standard error name what is unknown.\n\nA name is a pod, or a container for a Pod with only ' +
    'that container. Values of environment variables are written as they are; they may be secret.';
  static override usage = 'generate [FLAGS] NAME...';
  static override strict = false;
  static override examples = [
    '<%= config.bin %> generate web > web.yaml',
    '<%= config.bin %> generate kube-system/coredns -o json',
    '<%= config.bin %> generate web | ssh other-node kcri sync -',
  ];
  static override flags = {
    output: Flags.custom<'yaml' | 'json'>({options: ['yaml', 'json'], default: 'yaml'})({
      char: 'o',
      helpValue: 'FORMAT',
      description: 'Output format: yaml, or json for one object or a List. [default: yaml]',
    }),
  };

  async run(): Promise<void> {
    const {flags, argv} = await this.parse(Generate);
    if (argv.length === 0) throw new UsageError('no pod specified');
    const [{generateManifests}, {formatManifests}] = await Promise.all([
      import('../features/generate/generate-manifests.js'),
      import('../features/generate/format-manifests.js'),
    ]);
    const objects = await generateManifests(this.services, argv as string[]);
    if (objects.length > 0) this.out.print(formatManifests(objects, flags.output));
  }
}
