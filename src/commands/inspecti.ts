import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/command/base-command.js';
import type {CommandStrategies} from '../cli/dialect/command-strategies.js';
import {filterText, IMAGE_FILTER_FLAG} from '../features/containers/filter-flags.js';
import {FROM_FLAG, nonEmptyFlags} from '../cli/flags/flag-types.js';
import {INSPECT_FLAGS} from '../features/inspect/inspect-flags.js';
import {imageArgs} from '../cli/flags/positional-arguments.js';
import {inspectTargets, kcriInspect} from '../features/inspect/inspect-targets.js';
import {formatImageDetails} from '../features/inspect/inspect-details.js';
import {imageStatusJson} from '../features/inspect/inspect-json.js';
import {listImages} from '../operations/images/list-images.js';
import {inspectImage} from '../operations/inspect/inspect-objects.js';
import {resolveImages} from '../operations/resolve/resolve-by-lists.js';
import {nothingFoundError} from '../operations/resolve/target.js';
import {withContext} from '../operations/with-context.js';

export default class Inspecti extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'Show details of images';
  static override description =
    'Without names, shows all images that match the filters. A name without a tag means the tag ' +
    '"latest" or, if the image has only one tag, that tag.';
  static override aliases = ['image inspect'];
  static override usage = 'inspecti [IMAGE...] [FLAGS]';
  static override examples = [
    '<%= config.bin %> inspecti busybox:1.36 -o table',
    "<%= config.bin %> inspecti --name='registry.k8s.io/*' -q",
    "<%= config.bin %> inspecti busybox -o jsonpath='{.info.imageSpec.config.Env}'",
  ];
  static override args = imageArgs;
  static override flags = {
    ...INSPECT_FLAGS,
    ...FROM_FLAG,
    ...nonEmptyFlags({
      name: Flags.string({
        helpValue: 'NAME',
        description:
          'Select only images with this name, with any tag unless one is given; * matches any characters.',
      }),
    }),
    ...IMAGE_FILTER_FLAG,
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Inspecti);
    const {services, signal} = this;
    await inspectTargets(services, flags, {
      strategy: await this.dialect.strategy('inspecti', INSPECTI),
      refs: args.image ?? [],
      fetch: async (ref, verbose) => await inspectImage((await this.cri()).images, ref, {verbose, signal}),
      json: imageStatusJson,
      text: formatImageDetails,
    });
  }
}

const INSPECTI: CommandStrategies['inspecti'] = kcriInspect(
  async ({connections, report, signal}, refs, flags) => {
    const {name, filter: filters} = flags;
    const {images} = await connections.default();
    if (refs.length > 0) return await resolveImages(images, refs, signal);
    const listing = listImages(images, {name, filters}, {signal, onNote: report.warn});
    const found = await withContext('listing images', listing);
    if (found.length === 0) {
      const text = filterText(flags);
      throw nothingFoundError(
        'kcri images',
        text === '' ? 'there are no images' : `no image matches ${text}`,
      );
    }
    return found.map(({id}) => ({kind: 'found', ref: id, id}));
  },
);
