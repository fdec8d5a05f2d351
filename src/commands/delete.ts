import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {BaseCommand} from '../cli/command/base-command.js';
import {integerFlag} from '../cli/flags/flag-types.js';
import {createNamespaceFlag} from '../cli/flags/manifest-flags.js';
import {deletePods} from '../cli/pods/delete-pods.js';

export default class Delete extends BaseCommand {
  static override summary = 'Delete pods created by kcri';
  static override description =
    'Stops the containers within their grace period, then removes containers, sandbox, logs, volumes ' +
    'and directories. Specify pods by name, NAMESPACE/NAME or UID, by their workload, such as ' +
    'deployment/web, or by the manifests they were created from. The directories of ' +
    'PersistentVolumeClaims remain unless --volumes is given. Pods that kcri did not create are never ' +
    'deleted.\n\nContainers that ignore their stop signal, such as the shell of "kcri debug", are killed when the ' +
    'grace period has passed; it is 30 seconds unless the Pod has another one.\n\nWithout --runtime-endpoint, each pod is deleted on the runtime it was created on.';
  static override usage = 'delete [FLAGS] POD|WORKLOAD|FILE|DIR|URL...';
  static override strict = false;
  static override examples = [
    '<%= config.bin %> delete web',
    '<%= config.bin %> delete examples/web.yaml',
    '<%= config.bin %> delete statefulset/db --volumes',
  ];
  static override flags = {
    ...createNamespaceFlag(
      'Namespace of the named pods, and of Pods in manifests that have none. [default: any]',
    ),
    'grace-period': integerFlag({
      helpValue: 'SECONDS',
      description: "Time for containers to exit, in seconds. [default: the pod's own grace period]",
    }),
    volumes: Flags.boolean({
      description: 'Remove the directories of PersistentVolumeClaims that no other pod uses.',
    }),
  };

  async run(): Promise<void> {
    const {flags, argv} = await this.parse(Delete);
    if (argv.length === 0) throw new UsageError('no pod specified');
    const gracePeriodSeconds = flags['grace-period'];
    if (gracePeriodSeconds !== undefined && gracePeriodSeconds < 0)
      throw new UsageError('--grace-period must not be negative');
    const {namespace, volumes} = flags;
    await deletePods(this.services, argv as string[], {gracePeriodSeconds, namespace, volumes});
  }
}
