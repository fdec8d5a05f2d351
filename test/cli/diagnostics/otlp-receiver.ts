import {Server, ServerCredentials, type sendUnaryData, type ServerUnaryCall} from '@grpc/grpc-js';
import protobuf from 'protobufjs';

/** A received span, reduced to what tests use. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  /** Name of the instrumentation, without its version. */
  readonly scope: string;
  /** IDs of the spans that it links to. */
  readonly links: readonly string[];
  /** Names of the events. */
  readonly events: readonly string[];
  readonly failed: boolean;
  /** Messages of the exception events. */
  readonly message: string;
  readonly exceptions: readonly Readonly<Record<string, AttributeValue>>[];
}

type AttributeValue = string | number | boolean | readonly string[];

/** The subset of the OTLP protocol that tests use, with its field numbers. */
const PROTO = `
  syntax = "proto3";
  message Request { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
  message Scope { string name = 1; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
    repeated KeyValue attributes = 9; repeated Event events = 11; repeated Link links = 13; Status status = 15;
  }
  message Event { string name = 2; repeated KeyValue attributes = 3; }
  message Link { bytes span_id = 2; }
  message Status { string message = 2; int32 code = 3; }
  message KeyValue { string key = 1; Value value = 2; }
  message Value { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; Values array_value = 5; } }
  message Values { repeated Value values = 1; }
`;

interface Value {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: number;
  readonly arrayValue?: {readonly values: readonly Value[]};
}

interface Attribute {
  readonly key: string;
  readonly value: Value;
}

interface Request {
  readonly resourceSpans: readonly {
    readonly resource: {readonly attributes: readonly Attribute[]};
    readonly scopeSpans: readonly {
      readonly scope: {readonly name: string};
      readonly spans: readonly Record<string, unknown>[];
    }[];
  }[];
}

/** A trace collector on loopback (OTLP over gRPC). */
export class OtlpReceiver implements AsyncDisposable {
  readonly endpoint: string;
  readonly spans: ReceivedSpan[] = [];
  /** Resource attributes of the traces. */
  readonly resource: Record<string, AttributeValue> = {};
  readonly #server: Server;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.endpoint = `127.0.0.1:${port}`;
  }

  static async start(): Promise<OtlpReceiver> {
    const server = new Server();
    const take: {receiver?: OtlpReceiver} = {};
    const identity = (bytes: Buffer): Buffer => bytes;
    server.addService(
      {
        Export: {
          path: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
          requestStream: false,
          responseStream: false,
          requestSerialize: identity,
          requestDeserialize: identity,
          responseSerialize: identity,
          responseDeserialize: identity,
        },
      },
      {
        Export: (call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) => {
          take.receiver?.take(call.request);
          done(null, Buffer.alloc(0));
        },
      },
    );
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
        if (error === null) resolve(bound);
        else reject(error);
      });
    });
    take.receiver = new OtlpReceiver(server, port);
    return take.receiver;
  }

  take(bytes: Buffer): void {
    const type = protobuf.parse(PROTO).root.lookupType('Request');
    const options = {longs: Number, bytes: Buffer, defaults: true, arrays: true};
    const request = type.toObject(type.decode(bytes), options) as Request;
    for (const {resource, scopeSpans} of request.resourceSpans) {
      Object.assign(this.resource, values(resource.attributes));
      for (const {scope, spans} of scopeSpans)
        this.spans.push(...spans.map((span) => received(span, scope.name)));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.tryShutdown(() => {
        resolve();
      });
    });
  }
}

function received(span: Record<string, unknown>, scope: string): ReceivedSpan {
  const hex = (bytes: unknown): string => (bytes as Buffer).toString('hex');
  const status = span['status'] as {code?: number; message?: string} | null;
  const events = span['events'] as readonly {name: string; attributes: readonly Attribute[]}[];
  const exceptions = events.filter(({name}) => name === 'exception');
  return {
    traceId: hex(span['traceId']),
    spanId: hex(span['spanId']),
    parentSpanId: hex(span['parentSpanId']),
    name: span['name'] as string,
    kind: span['kind'] as number,
    attributes: values(span['attributes'] as readonly Attribute[]),
    failed: status?.code === 2,
    message: status?.message ?? '',
    scope,
    links: (span['links'] as readonly {spanId: Buffer}[]).map(({spanId}) => hex(spanId)),
    events: events.map(({name}) => name),
    exceptions: exceptions.map(({attributes}) => values(attributes)),
  };
}

function values(attributes: readonly Attribute[]): Record<string, AttributeValue> {
  return Object.fromEntries(attributes.map(({key, value}) => [key, valueOf(value)]));
}

function valueOf({stringValue, boolValue, intValue, arrayValue}: Value): AttributeValue {
  return (
    stringValue ?? boolValue ?? intValue ?? (arrayValue?.values ?? []).map((one) => String(valueOf(one)))
  );
}
