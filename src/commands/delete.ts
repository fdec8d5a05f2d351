import * as Flags from '@oclif/core/flags';
import {EmptyValueError, UsageError} from '../base/errors.js';
import {BaseCommand} from '../cli/command/base-command.js';
import {integerFlag} from '../cli/flags/flag-types.js';
import {createNamespaceFlag, FILENAME_FLAG} from '../features/manifests/manifest-flags.js';
import {deleteClaims, divideClaims, readObjects} from '../features/delete/delete-claims.js';
import {deletePersistentVolumes, divideVolumes} from '../features/delete/delete-persistent-volumes.js';
import {deletePods, type DeletionRequest} from '../features/delete/delete-pods.js';
import {ConflictError} from '../cli/parsing/usage-errors.js';

export default class Delete extends BaseCommand {
  static override summary = 'Delete pods created by kcri';
  static override description =
    'Stops the containers within their grace period, then removes containers, sandbox, logs, volumes ' +
    'and directories. Specify pods by name, NAMESPACE/NAME or UID, by their workload, such as ' +
    'deployment/web, or by the manifests they were created from. The directories of ' +
    'PersistentVolumeClaims remain unless --volumes is given. Pods that kcri did not create are never ' +
    'deleted; those of "kcri run" are deleted by their name or UID. With names that do not exist, the other pods are ' +
    'deleted, and the exit code is 1.\n\nA volume that a CSI driver created and that the reclaim policy Retain has kept after its claim is forgotten with pv/NAME, ' +
    'unless it is in use; its data stays with the driver.\n\nContainers that ignore their stop signal, such as the shell of "kcri debug", are killed when the ' +
    'grace period has passed; it is 30 seconds unless the Pod has another one.\n\nWithout --runtime-endpoint, each pod is deleted on the runtime it was created on.';
  static override usage = 'delete [FLAGS] POD|WORKLOAD|pvc/NAME|pv/NAME|FILE|DIR|URL...';
  static override strict = false;
  static override examples = [
    '<%= config.bin %> delete web',
    '<%= config.bin %> delete examples/web.yaml',
    '<%= config.bin %> delete --volumes pvc/data',
  ];
  static override flags = {
    ...createNamespaceFlag('Namespace of the pods, and of Pods in manifests that have none. [default: any]'),
    ...FILENAME_FLAG,
    selector: Flags.string({
      char: 'l',
      helpValue: 'SELECTOR',
      description: 'Delete all pods created by kcri that match a label selector, such as app=web,tier!=db.',
    }),
    all: Flags.boolean({description: 'Delete all pods created by kcri.'}),
    'grace-period': integerFlag({
      helpValue: 'SECONDS',
      description: "Time for containers to exit, in seconds. [default: the pod's own grace period]",
    }),
    volumes: Flags.boolean({
      description:
        'Delete the volumes and directories of PersistentVolumeClaims that no other pod uses, also of those that are named as pvc/NAME.',
    }),
  };

  async run(): Promise<void> {
    const {flags, argv} = await this.parse(Delete);
    const {namespace, volumes} = flags;
    const {volumes: persistentVolumes, others: words} = divideVolumes(argv as string[]);
    const {claims, others} = divideClaims(words, namespace);
    const request = parseRequest(argv as string[], flags);
    if (claims.length > 0 && !volumes)
      throw new UsageError('deleting a claim deletes its data', {hint: 'add --volumes to delete it'});
    const gracePeriodSeconds = flags['grace-period'];
    if (gracePeriodSeconds !== undefined && gracePeriodSeconds < 0)
      throw new UsageError('--grace-period must not be negative');
    const isOfClaims = claims.length > 0 && others.length === 0;
    const isOfVolumes = persistentVolumes.length > 0 && others.length + request.files.length === 0;
    const objects =
      isOfClaims || isOfVolumes
        ? await readObjects(this.services, request.files)
        : await deletePods(
            this.services,
            {...request, words: others},
            {gracePeriodSeconds, namespace, volumes},
          );
    if (claims.length > 0) await deleteClaims(this.services, claims, objects);
    if (persistentVolumes.length > 0) await deletePersistentVolumes(this.services, persistentVolumes);
  }
}

interface RequestFlags {
  readonly filename?: readonly string[] | undefined;
  readonly selector?: string | undefined;
  readonly all: boolean;
}

/** Returns the pods to delete. Throws UsageError for a command line that names none, or names them in two ways. */
function parseRequest(
  words: readonly string[],
  {filename = [], selector, all}: RequestFlags,
): DeletionRequest {
  // An empty selector matches all pods: probably a variable that is not set.
  if (selector?.trim() === '') throw new EmptyValueError('--selector');
  if (selector !== undefined && all) throw new ConflictError('--selector and --all are mutually exclusive');
  const isNamed = words.length + filename.length > 0;
  const matched = all ? '' : selector;
  if (matched === undefined && !isNamed) throw new UsageError('no pod specified');
  if (matched !== undefined && isNamed) throw namesAndError(all ? '--all' : '--selector');
  return {words, files: filename, selector: matched};
}

function namesAndError(flag: string): ConflictError {
  return new ConflictError(`cannot use names together with ${flag}`, {
    hint: `specify either names or ${flag}`,
  });
}
