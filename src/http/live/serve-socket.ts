/** Serves a WebSocket from its handshake to its end. */
import { ApiError } from '../../errors/api-error.ts';
import { errorCodes } from '../../errors/codes.ts';
import type { Share } from '../admission/admission.ts';
import { admitRequest, countRequest } from '../endpoint/begin-request.ts';
import { errorResponse, sendResponse, toReportedError } from '../endpoint/error-response.ts';
import type { Exchange, MessageSocket, SocketOffer } from '../endpoint/exchange.ts';
import type { LiveParts } from './live-wish.ts';
import { closeCodes, protocolName } from './socket-messages.ts';
import { SocketSession } from './socket-session.ts';

/** In bytes: what a message has besides its request. */
const envelope = 4 * 1024;
/** Sockets of one address whose client has not said yet who it is. */
const mostUnknown = 1000;

/** How many such sockets an address has. */
const unknown = new WeakMap<Share, number>();

/** Resolves when the socket has closed. Never rejects. */
export async function serveSocket(exchange: Exchange, offer: SocketOffer, parts: LiveParts): Promise<void> {
  const { observe } = parts;
  const { requestId } = exchange;
  observe({ kind: 'request-started' });
  const started = performance.now();
  let socket: MessageSocket | null = null;
  let error: ApiError | null = null;
  try {
    socket = await shakeHands(exchange, offer, parts);
  } catch (thrown) {
    error = toReportedError(thrown, requestId, observe);
  }
  const seconds = (performance.now() - started) / 1000;
  const code = error?.code ?? null;
  const status = code === null ? 101 : errorCodes[code].status;
  observe({ kind: 'request-finished', requestId, role: null, code, status, seconds, bytes: 0 });
  if (socket === null) return sendResponse(exchange, errorResponse(error ?? new ApiError('BAD_REQUEST', 'No handshake.')), true);
  try {
    await runSession(exchange, socket, parts);
  } catch (thrown) {
    observe({ kind: 'defect-found', requestId, error: thrown });
    socket.terminate();
  }
  exchange.endHandling();
}

async function shakeHands(exchange: Exchange, offer: SocketOffer, parts: LiveParts): Promise<MessageSocket> {
  const { headers } = exchange;
  const { crossOrigin, bodyLimit, rate } = parts;
  exchange.checkHead();
  // Browsers let pages of any origin open WebSockets: the server must keep to what it would allow them over HTTP.
  if (!crossOrigin.allows(headers))
    throw new ApiError('ORIGIN_NOT_ALLOWED', 'Pages of this origin may not call this server. Add it to the setting corsOrigins.');
  const admitted = admitRequest(exchange, parts);
  if (typeof admitted === 'string') throw new ApiError('OVERLOADED', admitted);
  if (rate !== null) await countRequest(exchange, rate);
  if ((unknown.get(admitted.client) ?? 0) >= mostUnknown)
    throw new ApiError('OVERLOADED', 'This client has too many WebSockets that have not sent connection_init. Send it, or close them.');
  const socket = await offer.accept(bodyLimit + envelope);
  exchange.leaveFlight();
  return socket;
}

async function runSession(exchange: Exchange, socket: MessageSocket, parts: LiveParts): Promise<void> {
  const { connections, observe } = parts;
  const share = exchange.admitted!.client;
  unknown.set(share, (unknown.get(share) ?? 0) + 1);
  const onKnown = (): void => void unknown.set(share, (unknown.get(share) ?? 1) - 1);
  const session = new SocketSession(exchange, socket, parts, share, onKnown);
  observe({ kind: 'socket-opened' });
  connections.add(session);
  if (socket.protocol === protocolName) await session.run();
  else await session.refuse(closeCodes.protocolNotAcceptable, `Use the subprotocol ${protocolName}.`);
  connections.remove(session);
  const { requestId } = exchange;
  const { closed, seconds } = session;
  observe({ kind: 'socket-closed', requestId, closeCode: closed?.code ?? null, reason: closed?.reason ?? null, seconds });
}
