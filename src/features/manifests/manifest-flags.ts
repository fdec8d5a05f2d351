import * as Flags from '@oclif/core/flags';
import type {ImageOverride, ManifestOverrides} from '../../operations/manifests/manifest-overrides.js';
import {nonEmptyFlags} from '../../cli/flags/flag-types.js';

/** Repeatable flag `FROM=IMAGE`. */
const imageOverrideFlag = Flags.custom<ImageOverride>({
  multiple: true,
  parse: async (text) => {
    const [, from = '', image = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
    if (from === '' || image === '' || /\s/.test(text)) throw new Error('must be NAME=IMAGE');
    return {from, image};
  },
});

/** Returns the flag -n, which is the namespace of objects that have none. */
export const createNamespaceFlag = (description: string) =>
  nonEmptyFlags({
    namespace: Flags.string({
      char: 'n',
      helpValue: 'NAMESPACE',
      description,
      parse: async (text) => {
        if (text !== '' && !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text))
          throw new Error('must be lower case letters, digits and "-", and at most 63 characters');
        return text;
      },
    }),
  });

/** Flag that names manifests, as in kubectl, beside the arguments. */
export const FILENAME_FLAG = nonEmptyFlags({
  filename: Flags.string({
    char: 'f',
    helpValue: 'FILE',
    multiple: true,
    description:
      'File, directory or URL with manifests, or - for standard input, as an argument. Can be repeated.',
  }),
});

/** Flags of `sync` and `plan` for pods of earlier syncs. */
export const PRUNE_FLAGS = {
  prune: Flags.boolean({
    description:
      'When all pods have met the condition, delete the pods of earlier syncs of the same files, directories and URLs that the ' +
      'manifests no longer contain.',
  }),
  selector: Flags.string({
    char: 'l',
    helpValue: 'SELECTOR',
    description:
      'With --prune, delete the pods of earlier syncs of any manifests that match a label selector, which all pods of the ' +
      'manifests must match too.',
  }),
};

/** Flags that change what manifests say. */
export const MANIFEST_FLAGS = {
  ...createNamespaceFlag(
    'Namespace of objects that have none; an object of another namespace is an error. [default: default]',
  ),
  image: imageOverrideFlag({
    helpValue: 'OLD=NEW',
    description:
      'Replace an image in all containers and image volumes. If neither name has a tag or digest, that of ' +
      'the manifest remains. Can be repeated.',
  }),
  'set-image': imageOverrideFlag({
    helpValue: 'CONTAINER=IMAGE',
    description: 'Set the image of the containers with this name, or of all with *. Can be repeated.',
  }),
};

/** Parsed values of MANIFEST_FLAGS. */
export interface ManifestOverrideFlags {
  readonly namespace?: string | undefined;
  readonly image?: readonly ImageOverride[] | undefined;
  readonly 'set-image'?: readonly ImageOverride[] | undefined;
}

/** Returns the changes that the flags ask for. */
export function manifestOverrides(flags: ManifestOverrideFlags): ManifestOverrides {
  return {namespace: flags.namespace, images: flags.image, containerImages: flags['set-image']};
}
