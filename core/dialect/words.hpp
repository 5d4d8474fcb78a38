// The words of the dialects: keys, types, reasons. Read once, then told apart as numbers.
//
// A comparison written out for each word in each place makes half of the dialects' machine code; a table is a few
// hundred bytes.
#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark::dialect {

// By length, the frequent ones of a length first: word_of() compares with those of one length, in this order.
#define TIDEMARK_WORDS(X)                                                         \
  X(Id, "id")                                                                     \
  X(Eos, "eos")                                                                   \
  X(Ret, "ret")                                                                   \
  X(Seq, "seq")                                                                   \
  X(Type, "type")                                                                 \
  X(Spii, "SPII")                                                                 \
  X(StopUpper, "STOP")                                                            \
  X(Code, "code")                                                                 \
  X(Done, "done")                                                                 \
  X(File, "file")                                                                 \
  X(Item, "item")                                                                 \
  X(Null, "null")                                                                 \
  X(Part, "part")                                                                 \
  X(Ping, "ping")                                                                 \
  X(Stop, "stop")                                                                 \
  X(Text, "text")                                                                 \
  X(Delta, "delta")                                                               \
  X(Index, "index")                                                               \
  X(Model, "model")                                                               \
  X(Usage, "usage")                                                               \
  X(Abort, "abort")                                                               \
  X(Error, "error")                                                               \
  X(Input, "input")                                                               \
  X(Parts, "parts")                                                               \
  X(Start, "start")                                                               \
  X(Object, "object")                                                             \
  X(Safety, "SAFETY")                                                             \
  X(Custom, "custom")                                                             \
  X(Finish, "finish")                                                             \
  X(Length, "length")                                                             \
  X(Reason, "reason")                                                             \
  X(Status, "status")                                                             \
  X(Choices, "choices")                                                           \
  X(Content, "content")                                                           \
  X(Created, "created")                                                           \
  X(Details, "details")                                                           \
  X(ItemId, "item_id")                                                            \
  X(Message, "message")                                                           \
  X(Refusal, "refusal")                                                           \
  X(Thought, "thought")                                                           \
  X(Language, "LANGUAGE")                                                         \
  X(EndTurn, "end_turn")                                                          \
  X(FileData, "fileData")                                                         \
  X(Function, "function")                                                         \
  X(Response, "response")                                                         \
  X(TextEnd, "text-end")                                                          \
  X(Thinking, "thinking")                                                         \
  X(ToolUse, "tool_use")                                                          \
  X(Blocklist, "BLOCKLIST")                                                       \
  X(Arguments, "arguments")                                                       \
  X(ErrorText, "errorText")                                                       \
  X(Keepalive, "keepalive")                                                       \
  X(MessageId, "messageId")                                                       \
  X(Reasoning, "reasoning")                                                       \
  X(MaxTokensUpper, "MAX_TOKENS")                                                 \
  X(Recitation, "RECITATION")                                                     \
  X(Candidates, "candidates")                                                     \
  X(CreatedAt, "created_at")                                                      \
  X(ErrorCode, "error_code")                                                      \
  X(InlineData, "inlineData")                                                     \
  X(MaxTokens, "max_tokens")                                                      \
  X(ResponseId, "responseId")                                                     \
  X(SourceUrl, "source-url")                                                      \
  X(StartStep, "start-step")                                                      \
  X(TextDeltaDashed, "text-delta")                                                \
  X(TextStart, "text-start")                                                      \
  X(TextDelta, "text_delta")                                                      \
  X(ToolCallsDashed, "tool-calls")                                                \
  X(ToolCallId, "toolCallId")                                                     \
  X(ToolCalls, "tool_calls")                                                      \
  X(BlockReason, "blockReason")                                                   \
  X(FinishStep, "finish-step")                                                    \
  X(Obfuscation, "obfuscation")                                                   \
  X(OutputText, "output_text")                                                    \
  X(StatusCode, "status_code")                                                    \
  X(StopReason, "stop_reason")                                                    \
  X(ImageSafety, "IMAGE_SAFETY")                                                  \
  X(FinishReasonCamel, "finishReason")                                            \
  X(FunctionCallCamel, "functionCall")                                            \
  X(MessageStop, "message_stop")                                                  \
  X(ModelVersion, "modelVersion")                                                 \
  X(OutputIndex, "output_index")                                                  \
  X(PartialJson, "partial_json")                                                  \
  X(FinishReason, "finish_reason")                                                \
  X(ContentBlock, "content_block")                                                \
  X(ContentIndex, "content_index")                                                \
  X(FunctionCall, "function_call")                                                \
  X(MessageDelta, "message_delta")                                                \
  X(MessageStart, "message_start")                                                \
  X(NetworkError, "network_error")                                                \
  X(ReasoningEnd, "reasoning-end")                                                \
  X(ResponseDone, "response.done")                                                \
  X(StopSequence, "stop_sequence")                                                \
  X(UsageMetadata, "usageMetadata")                                               \
  X(ContentFilterDashed, "content-filter")                                        \
  X(ContentFilter, "content_filter")                                              \
  X(ExecutableCode, "executableCode")                                             \
  X(InputTextDelta, "inputTextDelta")                                             \
  X(PromptFeedback, "promptFeedback")                                             \
  X(ThinkingDelta, "thinking_delta")                                              \
  X(ReasoningDelta, "reasoning-delta")                                            \
  X(ReasoningStart, "reasoning-start")                                            \
  X(ResponseFailed, "response.failed")                                            \
  X(SequenceNumber, "sequence_number")                                            \
  X(SourceDocument, "source-document")                                            \
  X(TextCompletion, "text_completion")                                            \
  X(InputJsonDelta, "input_json_delta")                                           \
  X(MessageMetadata, "message-metadata")                                          \
  X(ToolInputDelta, "tool-input-delta")                                           \
  X(ToolInputError, "tool-input-error")                                           \
  X(ToolInputStart, "tool-input-start")                                           \
  X(MaxOutputTokens, "max_output_tokens")                                         \
  X(ReasoningContent, "reasoning_content")                                        \
  X(RedactedThinking, "redacted_thinking")                                        \
  X(ProhibitedContent, "PROHIBITED_CONTENT")                                      \
  X(ContentBlockStop, "content_block_stop")                                       \
  X(IncompleteDetails, "incomplete_details")                                      \
  X(SystemFingerprint, "system_fingerprint")                                      \
  X(ResponseCancelled, "response.cancelled")                                      \
  X(ResponseCompleted, "response.completed")                                      \
  X(CodeExecutionResult, "codeExecutionResult")                                   \
  X(ContentBlockDelta, "content_block_delta")                                     \
  X(ContentBlockStart, "content_block_start")                                     \
  X(ResponseIncomplete, "response.incomplete")                                    \
  X(ToolInputAvailable, "tool-input-available")                                   \
  X(ResponseRefusalDelta, "response.refusal.delta")                               \
  X(ResponseReasoningDelta, "response.reasoning.delta")                           \
  X(FinishReasonUnspecified, "FINISH_REASON_UNSPECIFIED")                         \
  X(ResponseOutputItemDone, "response.output_item.done")                          \
  X(ResponseContentPartDone, "response.content_part.done")                        \
  X(ResponseOutputItemAdded, "response.output_item.added")                        \
  X(ResponseOutputTextDelta, "response.output_text.delta")                        \
  X(ResponseContentPartAdded, "response.content_part.added")                      \
  X(ModelContextWindowExceeded, "model_context_window_exceeded")                  \
  X(ResponseReasoningTextDelta, "response.reasoning_text.delta")                  \
  X(ResponseMcpCallArgumentsDelta, "response.mcp_call_arguments.delta")           \
  X(ResponseCustomToolCallInputDone, "response.custom_tool_call_input.done")      \
  X(ResponseCustomToolCallInputDelta, "response.custom_tool_call_input.delta")    \
  X(ResponseFunctionCallArgumentsDone, "response.function_call_arguments.done")   \
  X(ResponseReasoningSummaryTextDelta, "response.reasoning_summary_text.delta")   \
  X(ResponseFunctionCallArgumentsDelta, "response.function_call_arguments.delta") \
  X(ResponseCodeInterpreterCallCodeDelta, "response.code_interpreter_call_code.delta")

enum class Word : std::uint8_t {
  None,  // a word that no dialect knows
#define TIDEMARK_WORD(name, text) name,
  TIDEMARK_WORDS(TIDEMARK_WORD)
#undef TIDEMARK_WORD
      End,  // no word: there are no more
};

/// Cost: a look at the words of the same length.
Word word_of(std::string_view text);

}  // namespace tidemark::dialect
