import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {isListWord} from '../cli/arguments.js';
import {BaseCommand} from '../cli/base-command.js';
import {IMAGE_FILTER} from '../cli/filter-flags.js';
import {formOf, messageText, outputFlag, templateFlag, type Form} from '../cli/formats.js';
import {arranger, listFlags, listTable, type ListFlagValues} from '../cli/list-flags.js';
import {
  IMAGE_COLUMN_FIELDS,
  IMAGE_ORDERS,
  imageBlock,
  imageColumns,
  imageDetailColumns,
  imageRows,
} from '../cli/views/images.js';
import type {FieldMask, Image} from '../cri/index.js';
import {imageDetails} from '../operations/details.js';
import {imageName} from '../operations/image-names.js';
import {containersPerImage, listImages, type ImageQuery} from '../operations/images.js';
import {listAllContainers} from '../cri/list-all.js';
import {withContext} from '../operations/with-context.js';

const FORMATS = ['table', 'wide', 'name', 'json', 'yaml'] as const;

type ListForm = Form<(typeof FORMATS)[number]>;

interface ImagesFlags extends ListFlagValues {
  readonly output?: string | undefined;
  readonly template?: string | undefined;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly digests: boolean;
  readonly pinned: boolean;
  readonly 'no-trunc': boolean;
}

export default class Images extends BaseCommand {
  static override summary = 'List images';
  static override description =
    'Without a tag a name means any tag; * in it stands for anything.\n\n' +
    'The filters since and before go by when images were built, as far as the runtime tells. The wide table also ' +
    'shows that, and how many containers there are of an image.';
  static override aliases = ['image', 'img'];
  static override usage = 'images [REPOSITORY[:TAG]] [OPTIONS]';
  static override examples = [
    '<%= config.bin %> images busybox',
    "<%= config.bin %> images 'registry.k8s.io/*' --digests",
    '<%= config.bin %> images --filter dangling=true -q',
    '<%= config.bin %> images -o wide --sort size',
  ];
  static override args = {
    repository: Args.string({
      ignoreStdin: true,
      description: 'Only images of this name, with any tag unless it has one; * stands for anything.',
    }),
  };
  static override flags = {
    filter: IMAGE_FILTER,
    ...listFlags(IMAGE_ORDERS),
    verbose: Flags.boolean({char: 'v', description: 'Print everything about each image.'}),
    digests: Flags.boolean({description: 'Show digests.'}),
    pinned: Flags.boolean({description: 'Show whether the runtime keeps an image for itself.'}),
    output: outputFlag(FORMATS),
    template: templateFlag,
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(Images);
    const {repository: name} = args;
    const {filter: filters} = flags;
    if (this.compat) await this.#asCrictl({name, filters}, flags);
    else await this.#list({name: isListWord(name) ? undefined : name, filters}, flags);
  }

  async #list(query: ImageQuery, flags: ImagesFlags): Promise<void> {
    const form = await formOf(flags, FORMATS, this);
    const arrange = arranger(flags, IMAGE_ORDERS);
    const services = await this.cri();
    const onNote = (text: string): void => void this.warn(text);
    const wanted = {...query, fields: fieldsFor(form, flags)};
    const listed = listImages(services.images, wanted, {signal: this.signal, onNote});
    await this.#print(form, arrange(await withContext('listing images', listed)), flags);
  }

  async #asCrictl(query: ImageQuery, flags: ImagesFlags): Promise<void> {
    const {crictlImages} = await import('../cli/compat/lists.js');
    const services = await this.cri();
    const images = await crictlImages(services.images, query, this.signal);
    await this.#print(await formOf(flags, FORMATS, this), images, flags);
  }

  async #print(form: ListForm, images: readonly Image[], flags: ImagesFlags): Promise<void> {
    if (form.kind !== 'table' && form.kind !== 'wide' && form.kind !== 'name')
      this.print(await messageText(form, 'ListImagesResponse', {images}));
    else if (flags.quiet) this.printAll(images, ({id}) => `${id}\n`);
    else if (flags.verbose) this.printAll(images, imageBlock);
    else if (form.kind === 'name') this.printAll(images, (image) => `${imageName(image)}\n`);
    else {
      const {digests, pinned, 'no-trunc': full} = flags;
      const layout = {...flags, forTerminal: this.forTerminal};
      const rows = imageRows(images);
      if (form.kind === 'table') this.show(listTable(imageColumns({digests, full, pinned}), rows, layout));
      else {
        const columns = [
          ...imageColumns({digests, full, pinned: true}),
          ...(await this.#detailColumns(images)),
        ];
        this.show(listTable(columns, rows, {...layout, narrow: true}));
      }
    }
  }

  async #detailColumns(images: readonly Image[]) {
    const {runtime, images: service} = await this.cri();
    const [{byId, failure}, containers] = await Promise.all([
      imageDetails(service, images, this.signal),
      withContext('listing containers', listAllContainers(runtime, {}, this.signal)),
    ]);
    if (failure !== undefined) this.warn(`some details are missing: ${failure.message}`);
    const counts = containersPerImage(images, containers);
    return imageDetailColumns({facts: byId, containers: counts}, this.context.clock.now());
  }
}

/** What is needed of each image; undefined = all. */
function fieldsFor({kind}: ListForm, {verbose}: ImagesFlags): FieldMask<Image> | undefined {
  return (kind === 'table' || kind === 'name') && !verbose ? IMAGE_COLUMN_FIELDS : undefined;
}
