import {readFileSync} from 'node:fs';
import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor/index.js';

/*
 * An interface as a set of one-line facts, so that two of them can be compared as sets:
 *
 *   message AuthConfig
 *   field AuthConfig.password = 2: string [debug_redact]
 *   enum ContainerState
 *   value ContainerState.CONTAINER_RUNNING = 1
 *   rpc RuntimeService.GetContainerEvents(GetEventsRequest) returns (stream ContainerEventResponse)
 */

/** The facts of a .proto file. */
export function factsOfProto(path: string): Set<string> {
  const {root} = protobuf.parse(readFileSync(path, 'utf8'), {keepCase: true});
  root.resolveAll();
  const set = descriptor.FileDescriptorSet.toObject(root.toDescriptor('proto3'), {enums: String});
  return factsOf((set['file'] as FileFacts[])[0] ?? {});
}

/** The facts of the descriptor inside a Go file that protoc-gen-go made. Throws when there is none. */
export function factsOfGo(source: string): Set<string> {
  const file = descriptor.FileDescriptorProto.decode(rawDescriptor(source));
  return factsOf(descriptor.FileDescriptorProto.toObject(file, {enums: String}));
}

/** protoc-gen-go writes the bytes as a list of numbers, or in newer versions as string literals. */
function rawDescriptor(source: string): Buffer {
  const numbers = /_rawDesc = (?:string\()?\[\]byte\{([^}]*)\}/.exec(source)?.[1];
  if (numbers !== undefined) return Buffer.from(numbers.match(/0x[0-9a-f]{2}/g)?.map(Number) ?? []);
  const literals = /_rawDesc = ""((?:\s*\+\s*"(?:[^"\\\n]|\\.)*")+)/.exec(source)?.[1];
  if (literals === undefined) throw new Error('the Go file holds no descriptor');
  const parts = literals.match(/"(?:[^"\\\n]|\\.)*"/g) ?? [];
  return Buffer.concat(parts.map((part) => unescaped(part.slice(1, -1))));
}

const GO_ESCAPES: Readonly<Record<string, number>> = {a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11};

function unescaped(literal: string): Buffer {
  const parts = literal.match(/\\x[0-9a-f]{2}|\\.|[^\\]+/g) ?? [];
  return Buffer.concat(
    parts.map((part) => {
      if (!part.startsWith('\\')) return Buffer.from(part);
      if (part.startsWith('\\x')) return Buffer.from(part.slice(2), 'hex');
      return Buffer.from([GO_ESCAPES[part.charAt(1)] ?? part.charCodeAt(1)]);
    }),
  );
}

interface FieldFacts {
  readonly name: string;
  readonly number: number;
  readonly label: string;
  readonly type: string;
  readonly typeName?: string;
  readonly options?: {readonly deprecated?: boolean; readonly debugRedact?: boolean};
}

interface EnumFacts {
  readonly name: string;
  readonly value?: readonly {readonly name: string; readonly number: number}[];
}

interface MessageFacts {
  readonly name: string;
  readonly field?: readonly FieldFacts[];
  readonly nestedType?: readonly (MessageFacts & {readonly options?: {readonly mapEntry?: boolean}})[];
  readonly enumType?: readonly EnumFacts[];
}

interface FileFacts {
  readonly syntax?: string;
  readonly package?: string;
  readonly messageType?: readonly MessageFacts[];
  readonly enumType?: readonly EnumFacts[];
  readonly service?: readonly {
    readonly name: string;
    readonly method?: readonly {
      readonly name: string;
      readonly inputType: string;
      readonly outputType: string;
      readonly clientStreaming?: boolean;
      readonly serverStreaming?: boolean;
    }[];
  }[];
}

function factsOf(file: FileFacts): Set<string> {
  const services = (file.service ?? []).flatMap(({name, method = []}) =>
    method.map((rpc) => {
      const input = `${rpc.clientStreaming === true ? 'stream ' : ''}${lastName(rpc.inputType)}`;
      const output = `${rpc.serverStreaming === true ? 'stream ' : ''}${lastName(rpc.outputType)}`;
      return `rpc ${name}.${rpc.name}(${input}) returns (${output})`;
    }),
  );
  return new Set([
    `syntax ${file.syntax ?? 'proto2'}`,
    `package ${file.package ?? ''}`,
    ...(file.messageType ?? []).flatMap(messageFacts),
    ...(file.enumType ?? []).flatMap(enumFacts),
    ...services,
  ]);
}

function messageFacts(message: MessageFacts): string[] {
  const {name, field = [], nestedType = [], enumType = []} = message;
  const maps = new Map(
    nestedType.filter(({options}) => options?.mapEntry === true).map((type) => [type.name, type]),
  );
  return [
    `message ${name}`,
    ...field.map((each) => fieldFact(name, each, maps)),
    ...nestedType.filter((type) => !maps.has(type.name)).flatMap(messageFacts),
    ...enumType.flatMap(enumFacts),
  ];
}

function fieldFact(message: string, field: FieldFacts, maps: ReadonlyMap<string, MessageFacts>): string {
  const entry = maps.get(lastName(field.typeName ?? ''));
  const options = [
    field.options?.deprecated === true ? 'deprecated' : '',
    field.options?.debugRedact === true ? 'debug_redact' : '',
  ];
  const shown = options.filter((option) => option !== '').map((option) => ` [${option}]`);
  const label = field.label === 'LABEL_REPEATED' && entry === undefined ? 'repeated ' : '';
  const type = entry === undefined ? typeOf(field) : `map<${(entry.field ?? []).map(typeOf).join(', ')}>`;
  return `field ${message}.${field.name} = ${field.number}: ${label}${type}${shown.join('')}`;
}

function typeOf({type, typeName}: FieldFacts): string {
  const kind = type.replace('TYPE_', '').toLowerCase();
  return typeName === undefined || typeName === '' ? kind : `${kind} ${lastName(typeName)}`;
}

function enumFacts({name, value = []}: EnumFacts): string[] {
  return [`enum ${name}`, ...value.map((each) => `value ${name}.${each.name} = ${each.number}`)];
}

/** `.runtime.v1.PodSandbox` → `PodSandbox`: no two messages share their last name, which the test checks. */
function lastName(typeName: string): string {
  return typeName.slice(typeName.lastIndexOf('.') + 1);
}
