import {normalizeImageName} from '../image-reference.js';
import type {ImageRecord} from '../runtime-records.js';
import {unknownError, notFoundError} from '../grpc-status-error.js';
import {paginate, type FakeRuntimeState} from '../fake-runtime-state.js';
import type {Handlers, DeepPartial, Message, ResponseOf} from '../cri-messages.js';

/** The ImageService, after containerd's images/*.go. */
export function imageHandlers(state: FakeRuntimeState): Handlers {
  return {
    ListImages: ({filter}) => ({images: listImages(state, filter?.image?.image)}),
    *StreamImages({filter}) {
      for (const images of paginate(listImages(state, filter?.image?.image))) yield {images};
    },
    ImageStatus: ({image, verbose}) => {
      const found = resolveImage(state, image?.image ?? '');
      return found === undefined ? {} : {image: imageOf(found), info: verbose ? verboseInfo(found) : {}};
    },
    PullImage: ({image}) => ({imageRef: state.profile.pulledRef(pullImage(state, image?.image ?? ''))}),
    RemoveImage: ({image}) => {
      removeImage(state, image?.image ?? '');
      return {};
    },
    ImageFsInfo: () => imageFsInfo(state),
  };
}

/** Removes what the imitated runtime removes. An unknown image is not an error. */
function removeImage(state: FakeRuntimeState, reference: string): void {
  const image = resolveImage(state, reference);
  if (image === undefined) return;
  const scope = state.profile.removalScope(reference, image);
  if (scope === 'image') state.images.delete(image.id);
  if (scope !== 'tag') return;
  const name = normalizeImageName(reference);
  state.images.set(image.id, {...image, repoTags: image.repoTags.filter((tag) => tag !== name)});
}

/** Returns the image with this name, digest, ID or unambiguous ID prefix, or undefined if it is not pulled. */
export function resolveImage(state: FakeRuntimeState, reference: string): ImageRecord | undefined {
  return byId(state, reference) ?? [...state.images.values()].find((image) => isNamed(image, reference));
}

function byId(state: FakeRuntimeState, reference: string): ImageRecord | undefined {
  const id = state.profile.imageId(reference.startsWith('sha256:') ? reference : `sha256:${reference}`);
  const exact = state.images.get(id);
  if (exact !== undefined || !/^(sha256:)?[0-9a-f]+$/.test(id)) return exact;
  const matches = [...state.images.values()].filter((image) => image.id.startsWith(id));
  if (matches.length > 1) throw unknownError(`can not resolve "${reference}" locally: ambiguous digest`);
  return matches[0];
}

function isNamed(image: ImageRecord, reference: string): boolean {
  if (reference.startsWith('sha256:')) return false;
  const name = normalizeImageName(reference);
  return image.repoTags.includes(name) || image.repoDigests.includes(name);
}

function pullImage(state: FakeRuntimeState, reference: string): ImageRecord {
  const name = normalizeImageName(reference);
  const image = state.registry.find((each) => isNamed(each, reference));
  if (image === undefined)
    throw notFoundError(`failed to pull and unpack image "${name}": failed to resolve image: ${name}`);
  state.images.set(image.id, merged(state.images.get(image.id), image));
  return image;
}

/** Adds the name of a pull to an already pulled image, in alphabetical order. */
function merged(present: ImageRecord | undefined, pulled: ImageRecord): ImageRecord {
  const mergeSorted = (of: (image: ImageRecord) => readonly string[]): readonly string[] =>
    [...new Set([...(present === undefined ? [] : of(present)), ...of(pulled)])].toSorted();
  return {
    ...pulled,
    repoTags: mergeSorted(({repoTags}) => repoTags),
    repoDigests: mergeSorted(({repoDigests}) => repoDigests),
  };
}

function listImages(state: FakeRuntimeState, filter = ''): DeepPartial<Message<'Image'>>[] {
  if (filter === '' || !state.profile.filtersImages) return [...state.images.values()].map(imageOf);
  const image = resolveImage(state, filter);
  return image === undefined ? [] : [imageOf(image)];
}

function imageOf({
  id,
  repoTags,
  repoDigests,
  size,
  user,
  pinned,
}: ImageRecord): DeepPartial<Message<'Image'>> {
  const [name = ''] = user.split(':');
  const numeric = /^\d+$/.test(name);
  return {
    id,
    repoTags,
    repoDigests,
    size: String(size),
    uid: numeric ? {value: name} : null,
    username: numeric ? '' : name,
    pinned,
  };
}

function verboseInfo(image: ImageRecord): Record<string, string> {
  const {id, user, entrypoint, cmd, builtAt, labels, layers, spec} = image;
  const config = {User: user, Entrypoint: entrypoint, Cmd: cmd, Labels: labels};
  const rootfs = layers && {type: 'layers', diff_ids: layers};
  const imageSpec = {created: builtAt, architecture: 'amd64', os: 'linux', config, rootfs, ...spec};
  return {info: JSON.stringify({chainID: id, imageSpec})};
}

function imageFsInfo(state: FakeRuntimeState): ResponseOf<'ImageFsInfo'> {
  const used = [...state.images.values()].reduce((sum, image) => sum + image.size, 0);
  const filesystem = {
    timestamp: String(state.uniqueNowNanos()),
    fsId: {mountpoint: '/var/lib/fake/snapshots'},
    usedBytes: {value: String(used)},
    inodesUsed: {value: String(100 * state.images.size)},
  };
  return {imageFilesystems: [filesystem], containerFilesystems: [filesystem]};
}
