import {EmptyValueError} from '../../base/errors.js';
import type {FieldMask, Image} from '../../cri/index.js';
import {listImages} from '../../operations/images/list-images.js';
import {withContext} from '../../operations/with-context.js';
import type {CommandContext} from '../../cli/command/contexts.js';
import {createSorter, type ListFlagValues} from './list-flags.js';
import {isListAlias} from '../../cli/flags/positional-arguments.js';
import {parseOutputFormat} from '../../cli/output/parse-output-format.js';
import {IMAGE_COLUMN_FIELDS, IMAGE_ORDERS} from './image-table.js';
import {LIST_FORMATS, type ListForm} from './collect-containers.js';

declare module '../../cli/dialect/command-strategies.js' {
  interface CommandStrategies {
    readonly images: ListImagesStrategy;
  }
}

/** Values of the flags of `images`. */
export interface ImagesFlags extends ListFlagValues {
  readonly filter?: readonly string[] | undefined;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly digests: boolean;
  readonly pinned: boolean;
  readonly 'no-trunc': boolean;
}

/** Images to show, in their order. */
export interface ImageList {
  readonly form: ListForm;
  readonly images: readonly Image[];
}

/** Lists the images of a name, or all, for `images`. Rejects with KcriError. */
export type ListImagesStrategy = (
  services: CommandContext,
  name: string | undefined,
  flags: ImagesFlags,
) => Promise<ImageList>;

/** kcri's list of images. */
export const collectImages: ListImagesStrategy = async (services, name, flags) => {
  if (name === '') throw new EmptyValueError('the image name');
  const form = await parseOutputFormat(flags, LIST_FORMATS, services);
  const arrange = createSorter(flags, IMAGE_ORDERS);
  const {images} = await services.connections.default();
  const query = {
    name: isListAlias(name) ? undefined : name,
    filters: flags.filter,
    fields: fieldsFor(form, flags),
  };
  const listed = listImages(images, query, {signal: services.signal, onNote: services.report.warn});
  return {form, images: arrange(await withContext('listing images', listed))};
};

/** Returns the required fields of each image; undefined for all. */
function fieldsFor({kind}: ListForm, {verbose}: ImagesFlags): FieldMask<Image> | undefined {
  return (kind === 'table' || kind === 'name') && !verbose ? IMAGE_COLUMN_FIELDS : undefined;
}
