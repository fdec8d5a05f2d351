import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/command/base-command.js';
import {IMAGE_FILTER_FLAG} from '../features/containers/filter-flags.js';
import {EXIT_CODE_FLAG, setListExitCode, listFlags} from '../features/lists/list-flags.js';
import {LIST_FORMATS} from '../features/lists/collect-containers.js';
import {collectImages} from '../features/lists/collect-images.js';
import {printImages} from '../features/lists/print-images.js';
import {queryNodes} from '../features/nodes/query-nodes.js';
import {outputFlags} from '../cli/output/parse-output-format.js';
import {IMAGE_ORDERS} from '../features/lists/image-table.js';

export default class Images extends BaseCommand {
  static override nodes = 'several' as const;
  static override summary = 'List images';
  static override description =
    'A name without a tag matches all tags; * in a name matches any characters.\n\nThe since and before ' +
    'filters compare build times, if the runtime reports them. The wide table also shows build times ' +
    'and the number of containers that use each image.';
  static override aliases = ['image', 'img'];
  static override usage = 'images [REPOSITORY[:TAG]] [FLAGS]';
  static override examples = [
    "<%= config.bin %> images 'registry.k8s.io/*' --digests",
    '<%= config.bin %> images --filter=dangling=true -q',
    '<%= config.bin %> images -o wide --sort=size',
  ];
  static override args = {
    repository: Args.string({
      ignoreStdin: true,
      description:
        'Select only images with this name, with any tag unless one is given; * matches any characters.',
    }),
  };
  static override flags = {
    ...IMAGE_FILTER_FLAG,
    ...listFlags(IMAGE_ORDERS),
    verbose: Flags.boolean({char: 'v', description: 'Print all details of each image.'}),
    digests: Flags.boolean({description: 'Show digests.'}),
    pinned: Flags.boolean({description: 'Show whether an image is pinned.'}),
    ...EXIT_CODE_FLAG,
    ...outputFlags(LIST_FORMATS),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Images);
    const list = await this.dialect.strategy('images', collectImages);
    const lists = await queryNodes(
      this.services,
      async (services) => await list(services, args.repository, flags),
    );
    setListExitCode(this.report, flags, await printImages(this.services, lists, flags));
  }
}
