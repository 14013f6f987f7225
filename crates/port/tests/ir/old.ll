; As clang 14 prints it: typed pointers, bitcasts in constants, calls for debuggers.
source_filename = "old.c"
target datalayout = "e-m:e-p270:32:32-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.ring = type { [8 x i32], i64, %union.anon, %struct.ring* }
%union.anon = type { i64 }

@ring = internal global %struct.ring zeroinitializer, align 8
@table = internal global [2 x void (i8*)*] [void (i8*)* @callback, void (i8*)* null], align 16
@mine = internal thread_local global i32 0, align 4

define internal void @callback(i8* %0) {
  ret void
}

define internal i8* @producer(i8* nocapture readnone %0) #0 !dbg !4 {
  br label %2

2:                                                ; preds = %2, %1
  %3 = phi i64 [ 0, %1 ], [ %9, %2 ]
  %4 = load atomic i64, i64* getelementptr inbounds (%struct.ring, %struct.ring* @ring, i64 0, i32 1) monotonic, align 8, !dbg !6
  %5 = and i64 %4, 7
  %6 = getelementptr inbounds %struct.ring, %struct.ring* @ring, i64 0, i32 0, i64 %5
  call void @llvm.dbg.value(metadata i32* %6, metadata !7, metadata !DIExpression()), !dbg !6
  store i32 1, i32* %6, align 4, !dbg !6
  %7 = cmpxchg weak i64* getelementptr inbounds (%struct.ring, %struct.ring* @ring, i64 0, i32 1), i64 %4, i64 5 release monotonic, align 8
  %8 = extractvalue { i64, i1 } %7, 1
  %9 = add i64 %3, 1
  br i1 %8, label %10, label %2

10:                                               ; preds = %2
  fence syncscope("singlethread") seq_cst
  %11 = load void (i8*)*, void (i8*)** getelementptr inbounds ([2 x void (i8*)*], [2 x void (i8*)*]* @table, i64 0, i64 0), align 16
  call void %11(i8* null)
  %12 = load i32, i32* @mine, align 4
  switch i32 %12, label %13 [
    i32 1, label %14
    i32 2, label %14
  ]

13:                                               ; preds = %10
  %14.x = call i8* @malloc(i64 8)
  br label %14

14:                                               ; preds = %13, %10, %10
  %15 = phi i8* [ %14.x, %13 ], [ bitcast (%struct.ring* @ring to i8*), %10 ], [ bitcast (%struct.ring* @ring to i8*), %10 ]
  %16 = bitcast i8* %15 to i64*
  store atomic i64 1, i64* %16 seq_cst, align 8
  ret i8* null
}

define i32 @main() {
  %1 = alloca i64, align 8
  %2 = call i32 @pthread_create(i64* nonnull %1, i8* null, i8* (i8*)* nonnull @producer, i8* null)
  ret i32 0
}

declare i8* @malloc(i64)
declare i32 @pthread_create(i64*, i8*, i8* (i8*)*, i8*)
declare void @llvm.dbg.value(metadata, metadata, metadata)

attributes #0 = { nounwind }

!llvm.dbg.cu = !{!1}
!1 = distinct !DICompileUnit(language: DW_LANG_C99, file: !2)
!2 = !DIFile(filename: "old.c", directory: "/src")
!4 = distinct !DISubprogram(name: "producer", scope: !2, file: !2, line: 3)
!6 = !DILocation(line: 5, column: 9, scope: !4)
!7 = !DILocalVariable(name: "slot", scope: !4, file: !2, line: 4, type: !8)
!8 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !9, size: 64)
!9 = !DICompositeType(tag: DW_TAG_structure_type, name: "slot", size: 32)
