; As rustc 1.95 prints it: opaque pointers, records for debuggers, attributes of LLVM 22, exceptions, quoted names.
source_filename = "new.7c3-cgu.0"
target datalayout = "e-m:e-p270:32:32-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%"core::sync::atomic::AtomicU32" = type { i32 }

@vtable.0 = private constant <{ ptr, [16 x i8], ptr }> <{ ptr @drop, [16 x i8] c"\08\00\00;\00{\00\00\08\00\00\00\00\00\00\00", ptr @"new::{{closure}}" }>, align 8
@SHARED = internal global <{ [8 x i8] }> zeroinitializer, align 8

; Function Attrs: nonlazybind uwtable
define internal fastcc noundef range(i32 0, 3) i32 @drop(ptr noalias noundef nonnull align 8 captures(none) dereferenceable(16) %self) unnamed_addr #0 !dbg !5 {
start:
    #dbg_value(ptr %self, !8, !DIExpression(), !9)
  %_3 = getelementptr inbounds nuw i8, ptr %self, i64 8, !dbg !9
  %0 = load atomic i64, ptr %_3 acquire, align 8, !dbg !9
  %1 = icmp samesign ugt i64 %0, 4
  %2 = select i1 %1, i32 1, i32 2
  ret i32 %2
}

define void @"new::{{closure}}"(ptr noundef nonnull align 128 %queue) unnamed_addr #0 personality ptr @rust_eh_personality {
bb0:
  %slot = alloca [24 x i8], align 8
  %index = load atomic i64, ptr %queue monotonic, align 128
  %element = getelementptr inbounds nuw %"core::sync::atomic::AtomicU32", ptr %queue, i64 %index
  store atomic i32 7, ptr %element monotonic, align 4
  %old = atomicrmw add ptr @SHARED, i64 1 acq_rel, align 8
  %_5 = invoke fastcc noundef range(i32 0, 3) i32 @drop(ptr noalias noundef nonnull align 8 dereferenceable(16) %queue) #1
          to label %bb1 unwind label %cleanup

bb1:                                              ; preds = %bb0
  %_7 = invoke { i64, i64 } @unknown(ptr nonnull %slot, i64 %old)
          to label %bb2 unwind label %cleanup

bb2:                                              ; preds = %bb1
  %pair = cmpxchg ptr getelementptr inbounds (i8, ptr @SHARED, i64 4), i32 1, i32 2 seq_cst acquire, align 4
  %ok = extractvalue { i32, i1 } %pair, 1
  br i1 %ok, label %bb3, label %bb2

bb3:                                              ; preds = %bb2
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 8 dereferenceable(24) %slot, ptr align 8 %queue, i64 24, i1 false)
  ret void

cleanup:                                          ; preds = %bb1, %bb0
  %3 = landingpad { ptr, i32 }
          cleanup
  tail call void asm sideeffect "mfence", "~{memory},~{dirflag},~{fpsr},~{flags}"()
  fence seq_cst
  resume { ptr, i32 } %3
}

declare i32 @rust_eh_personality(...) unnamed_addr #0
declare { i64, i64 } @unknown(ptr noundef captures(none), i64)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias writeonly captures(none), ptr noalias readonly captures(none), i64, i1 immarg)

attributes #0 = { nonlazybind uwtable "target-cpu"="x86-64" }
attributes #1 = { noinline }

!llvm.dbg.cu = !{!1}
!1 = distinct !DICompileUnit(language: DW_LANG_Rust, file: !2)
!2 = !DIFile(filename: "src/lib.rs", directory: "/src")
!5 = distinct !DISubprogram(name: "drop", scope: !2, file: !2, line: 3)
!8 = !DILocalVariable(name: "self", arg: 1, scope: !5, file: !2, line: 3, type: !10)
!9 = !DILocation(line: 4, column: 5, scope: !5, inlinedAt: !12)
!10 = !DIDerivedType(tag: DW_TAG_pointer_type, name: "&mut Queue", baseType: !11, size: 64)
!11 = !DICompositeType(tag: DW_TAG_structure_type, name: "Queue", size: 128, identifier: "q1")
!12 = !DILocation(line: 9, column: 1, scope: !5)
