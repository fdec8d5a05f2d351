import type {GrpcStatusError} from '../grpc-status-error.js';
import type {ImageRecord, SandboxRecord, ContainerRecord} from '../runtime-records.js';
import type {ResponseOf, Rpc} from '../cri-messages.js';

/** References to an image in the messages of a container. */
export interface ImageReferences {
  readonly imageRef: string;
  readonly imageId: string;
}

/** What RemoveImage removes: the image with all its tags, only the tag, or nothing. */
type RemovalScope = 'image' | 'tag' | 'nothing';

/** A path of a streaming server and its token. */
interface StreamingPath {
  readonly base: string;
  readonly method: string;
  readonly token: string;
}

/** What differs between runtimes, from their sources and from calls to them. */
export interface RuntimeProfile {
  readonly runtimeName: string;
  readonly runtimeVersion: string;
  /** RPCs that fail with UNIMPLEMENTED, and the error. */
  readonly unimplemented: readonly Rpc[];
  unimplementedError(rpc: string): GrpcStatusError;
  /** True if events without listeners are delivered to the next listener. */
  readonly buffersEvents: boolean;
  /** True if GetContainerEvents sends events. If not, its stream ends immediately. */
  readonly sendsEvents: boolean;
  /** True if images can be pinned. */
  readonly pinsImages: boolean;
  /** True if Status lists runtime handlers and features. */
  readonly reportsHandlers: boolean;
  /** True if ListImages applies its filter. */
  readonly filtersImages: boolean;
  /** True if a filter accepts a prefix of a sandbox's ID. */
  readonly findsSandboxPrefix: boolean;
  /** True if stats contain more than CPU time and working set. */
  readonly hasFullStats: boolean;
  /** Error of ReopenContainerLog if it is not supported. */
  readonly reopenError?: string;
  /** Returns the ID of an image for its digest. */
  imageId(digest: string): string;
  /** Returns the reference in the response of PullImage. */
  pulledRef(image: ImageRecord): string;
  /** Returns the references in ListContainers and in ContainerStatus. */
  listedImage(image: ImageRecord | undefined, imageId: string): ImageReferences;
  shownImage(image: ImageRecord | undefined, imageId: string): ImageReferences;
  /** Returns what RemoveImage removes for a reference by ID, by prefix of an ID, or by name. */
  removalScope(reference: string, image: ImageRecord): RemovalScope;
  /** Returns the error for an unknown container or sandbox; `failure` is containerd's text of the RPC. */
  notFound(kind: 'container' | 'sandbox', id: string, failure: string): GrpcStatusError;
  /** Returns the error of Exec, ExecSync and Attach for a container that does not run. */
  notRunning(container: ContainerRecord, prefix: string): GrpcStatusError;
  /** Returns the response of ExecSync for a command that was killed at its time limit, or throws the error. */
  execTimedOut(seconds: string): ResponseOf<'ExecSync'>;
  /** Returns the response of ExecSync for a command that runc could not start, or throws the error. */
  execNotStarted(cause: string): ResponseOf<'ExecSync'>;
  streamingUrl(path: StreamingPath): string;
  /** Returns the JSON of verbose responses. */
  runtimeInfo(): Readonly<Record<string, string>>;
  sandboxInfo(sandbox: SandboxRecord): object;
  containerInfo(container: ContainerRecord): object;
}
