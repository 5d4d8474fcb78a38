// The same answer by way of this server, which holds the key: what breaks between it and the proxy is healed here.
import { createRecoveringFetch } from "tidemark";

const proxy = process.env.TIDEMARK_PROXY ?? "http://127.0.0.1:8787";
const recoveringFetch = createRecoveringFetch();

export async function POST(request) {
  const { messages } = await request.json();
  const response = await recoveringFetch(`${proxy}/v1/chat/completions`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ model: "simulated", stream: true, messages }),
    signal: request.signal,
  });
  const headers = { "Content-Type": response.headers.get("Content-Type"), "Cache-Control": "no-cache, no-transform" };
  return new Response(response.body, { status: response.status, headers });
}
