// The same answer by way of this server, which holds the key: what breaks between it and the proxy is healed here.
import { createRecoveringFetch } from "tidemark";

const recoveringFetch = createRecoveringFetch();

export default defineEventHandler(async (event) => {
  const { messages } = await readBody(event);
  const response = await recoveringFetch(`${useRuntimeConfig().proxy}/v1/chat/completions`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ model: "simulated", stream: true, messages }),
  });
  const headers = { "Content-Type": response.headers.get("Content-Type"), "Cache-Control": "no-cache, no-transform" };
  return new Response(response.body, { status: response.status, headers });
});
